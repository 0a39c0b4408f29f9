package ssbgen

import "fmt"

// Tables draw from sequences of their own.
const (
	customerRows byte = iota
	supplierRows
	partRows
	orderRows
)

// place is where a customer or supplier lives.
type place struct {
	city    []int16 // of cities
	nation  []int8
	region  []int8
	address []string
	phone   []string
}

// add draws a place.
func (p *place) add(r *source) {
	nation := r.below(len(nations))
	p.city = append(p.city, int16(nation*citiesOf+r.below(citiesOf)))
	p.nation = append(p.nation, int8(nation))
	p.region = append(p.region, nationRegions[nation])
	p.address = append(p.address, address(r))
	p.phone = append(p.phone, fmt.Sprintf("%d-%d-%d-%d", 10+nation, r.between(100, 999),
		r.between(100, 999), r.between(1000, 9999)))
}

// columns returns those of a table whose columns have a prefix, the address
// first.
func (p *place) columns(prefix string) []column {
	return []column{
		{name: prefix + "address", values: texts(p.address), plain: true},
		{name: prefix + "city", values: codes(p.city, cities)},
		{name: prefix + "nation", values: codes(p.nation, nationNames)},
		{name: prefix + "region", values: codes(p.region, regions)},
		{name: prefix + "phone", values: texts(p.phone), plain: true},
	}
}

// letters are TPC-H's characters of a variable string.
const letters = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,"

// address draws 6 to 24 characters.
func address(r *source) string {
	text := make([]byte, r.between(6, 24))
	for i := range text {
		text[i] = letters[r.below(len(letters))]
	}
	return string(text)
}

// customer returns rows of the dimension customer; keys begin at 1.
func (o Options) customer(from, to int64) []column {
	var key []int32
	var name []string
	var segment []int8
	var home place
	for i := from; i < to; i++ {
		r := sourceOf(o.Seed, customerRows, i)
		key = append(key, int32(i+1))
		name = append(name, fmt.Sprintf("Customer#%09d", i+1))
		home.add(&r)
		segment = append(segment, int8(r.below(len(segments))))
	}
	out := []column{
		{name: "c_custkey", values: integers(key), plain: true},
		{name: "c_name", values: texts(name), plain: true},
	}
	out = append(out, home.columns("c_")...)
	return append(out, column{name: "c_mktsegment", values: codes(segment, segments)})
}

// supplier returns rows of the dimension supplier; keys begin at 1.
func (o Options) supplier(from, to int64) []column {
	var key []int32
	var name []string
	var seat place
	for i := from; i < to; i++ {
		r := sourceOf(o.Seed, supplierRows, i)
		key = append(key, int32(i+1))
		name = append(name, fmt.Sprintf("Supplier#%09d", i+1))
		seat.add(&r)
	}
	return append([]column{
		{name: "s_suppkey", values: integers(key), plain: true},
		{name: "s_name", values: texts(name), plain: true},
	}, seat.columns("s_")...)
}

// part returns rows of the dimension part; keys begin at 1.
func (o Options) part(from, to int64) []column {
	mfgrs, categories, brands := hierarchy()
	var key []int32
	var name []string
	var mfgr, category, color, size, container []int8
	var brand, kind []int16
	for i := from; i < to; i++ {
		r := sourceOf(o.Seed, partRows, i)
		key = append(key, int32(i+1))
		// A color and a name of two others.
		a, b, c := r.below(len(colors)), r.below(len(colors)-1), r.below(len(colors)-2)
		if b >= a {
			b++
		}
		if c >= min(a, b) {
			c++
		}
		if c >= max(a, b) {
			c++
		}
		color = append(color, int8(a))
		name = append(name, colors[b]+" "+colors[c])
		v := r.below(len(brands))
		brand = append(brand, int16(v))
		category = append(category, int8(v/brandsOf))
		mfgr = append(mfgr, int8(v/brandsOf/categoriesOf))
		kind = append(kind, int16(r.below(len(partTypes))))
		size = append(size, int8(r.between(1, 50)))
		container = append(container, int8(r.below(len(containers))))
	}
	return []column{
		{name: "p_partkey", values: integers(key), plain: true},
		{name: "p_name", values: texts(name)},
		{name: "p_mfgr", values: codes(mfgr, mfgrs)},
		{name: "p_category", values: codes(category, categories)},
		{name: "p_brand1", values: codes(brand, brands)},
		{name: "p_color", values: codes(color, colors)},
		{name: "p_type", values: codes(kind, partTypes)},
		{name: "p_size", values: integers(size)},
		{name: "p_container", values: codes(container, containers)},
	}
}
