package ssbgen

import "math"

// maxLines is the most that an order has.
const maxLines = 7

// orderKey returns the key of an order by its number, which begins at 1: of
// each 32 keys the first 8 are used.
func orderKey(i int64) int64 { return i>>3<<5 | i&7 }

// price returns a part's in cents, by TPC-H's formula for p_retailprice.
func price(part int) int { return 90000 + part/10%20001 + part%1000*100 }

// customerOf returns the i-th key, from 0, of those that are no multiple of
// three.
func customerOf(i int) int { return i/2*3 + i%2 + 1 }

// lineorder returns the lines of orders.
func (o Options) lineorder(from, to int64) []column {
	customers, suppliers, parts := int(o.customers()), int(o.suppliers()), int(o.parts())
	ordering := customers - customers/3
	room := int(to-from) * maxLines
	orderkey, custkey, partkey, suppkey := make([]int64, 0, room), make([]int32, 0, room),
		make([]int32, 0, room), make([]int32, 0, room)
	orderdate, commitdate := make([]int32, 0, room), make([]int32, 0, room)
	linenumber, quantity, discount, tax := make([]int8, 0, room), make([]int8, 0, room),
		make([]int8, 0, room), make([]int8, 0, room)
	priority, shipmode := make([]int8, 0, room), make([]int8, 0, room)
	extendedprice, ordtotalprice := make([]int32, 0, room), make([]int32, 0, room)
	revenue, supplycost := make([]int32, 0, room), make([]int32, 0, room)
	byDay := dateKeys()
	for i := from; i < to; i++ {
		r := sourceOf(o.Seed, orderRows, i)
		lines := r.between(1, maxLines)
		ordered := r.below(orderDays)
		customer := customerOf(r.below(ordering))
		urgency := r.below(len(priorities))
		total := 0
		for line := range lines {
			part := r.between(1, parts)
			count := r.between(1, 50)
			off := r.below(11)
			taxed := r.below(9)
			each := price(part)
			earned := each * count * (100 - off) / 100
			total += earned * (100 + taxed) / 100
			orderkey = append(orderkey, orderKey(i+1))
			linenumber = append(linenumber, int8(line+1))
			custkey = append(custkey, int32(customer))
			partkey = append(partkey, int32(part))
			suppkey = append(suppkey, int32(r.between(1, suppliers)))
			orderdate = append(orderdate, byDay[ordered])
			priority = append(priority, int8(urgency))
			quantity = append(quantity, int8(count))
			extendedprice = append(extendedprice, int32(each*count))
			discount = append(discount, int8(off))
			revenue = append(revenue, int32(earned))
			supplycost = append(supplycost, int32(each*6/10))
			tax = append(tax, int8(taxed))
			commitdate = append(commitdate, byDay[ordered+r.between(30, 90)])
			shipmode = append(shipmode, int8(r.below(len(shipModes))))
		}
		for range lines {
			ordtotalprice = append(ordtotalprice, int32(total))
		}
	}
	keys := integers(orderkey)
	if orderKey(o.orders()) <= math.MaxInt32 {
		narrow := make([]int32, len(orderkey))
		for i, k := range orderkey {
			narrow[i] = int32(k)
		}
		keys = integers(narrow)
	}
	return []column{
		{name: "lo_orderkey", values: keys, plain: true},
		{name: "lo_linenumber", values: integers(linenumber)},
		{name: "lo_custkey", values: integers(custkey), plain: true},
		{name: "lo_partkey", values: integers(partkey), plain: true},
		{name: "lo_suppkey", values: integers(suppkey), plain: true},
		{name: "lo_orderdate", values: integers(orderdate)},
		{name: "lo_orderpriority", values: codes(priority, priorities)},
		{name: "lo_shippriority", values: codes(make([]int8, len(linenumber)), []string{"0"})},
		{name: "lo_quantity", values: integers(quantity)},
		{name: "lo_extendedprice", values: integers(extendedprice), plain: true},
		{name: "lo_ordtotalprice", values: integers(ordtotalprice), plain: true},
		{name: "lo_discount", values: integers(discount)},
		{name: "lo_revenue", values: integers(revenue), plain: true},
		{name: "lo_supplycost", values: integers(supplycost), plain: true},
		{name: "lo_tax", values: integers(tax)},
		{name: "lo_commitdate", values: integers(commitdate)},
		{name: "lo_shipmode", values: codes(shipmode, shipModes)},
	}
}
