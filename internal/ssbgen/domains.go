package ssbgen

import "fmt"

// nation is a row of TPC-H's nation with its region's name.
type nation struct{ name, region string }

// nations are in the order of TPC-H's keys, from which telephone prefixes
// follow.
var nations = []nation{
	{"ALGERIA", "AFRICA"}, {"ARGENTINA", "AMERICA"}, {"BRAZIL", "AMERICA"}, {"CANADA", "AMERICA"},
	{"EGYPT", "MIDDLE EAST"}, {"ETHIOPIA", "AFRICA"}, {"FRANCE", "EUROPE"}, {"GERMANY", "EUROPE"},
	{"INDIA", "ASIA"}, {"INDONESIA", "ASIA"}, {"IRAN", "MIDDLE EAST"}, {"IRAQ", "MIDDLE EAST"},
	{"JAPAN", "ASIA"}, {"JORDAN", "MIDDLE EAST"}, {"KENYA", "AFRICA"}, {"MOROCCO", "AFRICA"},
	{"MOZAMBIQUE", "AFRICA"}, {"PERU", "AMERICA"}, {"CHINA", "ASIA"}, {"ROMANIA", "EUROPE"},
	{"SAUDI ARABIA", "MIDDLE EAST"}, {"VIETNAM", "ASIA"}, {"RUSSIA", "EUROPE"},
	{"UNITED KINGDOM", "EUROPE"}, {"UNITED STATES", "AMERICA"},
}

var (
	regions = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}

	segments = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"}

	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}

	shipModes = []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}

	colors = []string{
		"almond", "antique", "aquamarine", "azure", "beige", "bisque", "black", "blanched", "blue",
		"blush", "brown", "burlywood", "burnished", "chartreuse", "chiffon", "chocolate", "coral",
		"cornflower", "cornsilk", "cream", "cyan", "dark", "deep", "dim", "dodger", "drab",
		"firebrick",
		"floral", "forest", "frosted", "gainsboro", "ghost", "goldenrod", "green", "grey",
		"honeydew",
		"hot", "indian", "ivory", "khaki", "lace", "lavender", "lawn", "lemon", "light", "lime",
		"linen", "magenta", "maroon", "medium", "metallic", "midnight", "mint", "misty", "moccasin",
		"navajo", "navy", "olive", "orange", "orchid", "pale", "papaya", "peach", "peru", "pink",
		"plum", "powder", "puff", "purple", "red", "rose", "rosy", "royal", "saddle", "salmon",
		"sandy",
		"seashell", "sienna", "sky", "slate", "smoke", "snow", "spring", "steel", "tan", "thistle",
		"tomato", "turquoise", "violet", "wheat", "white", "yellow",
	}

	partTypes = combinations(
		[]string{"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"},
		[]string{"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"},
		[]string{"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"})

	containers = combinations(
		[]string{"SM", "LG", "MED", "JUMBO", "WRAP"},
		[]string{"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"})

	nationNames, nationRegions = split(nations)

	// cities are ten a nation, in the order of the nations.
	cities = cityNames()
)

// brands of a category and what is above them.
const (
	manufacturers = 5
	categoriesOf  = 5  // of a manufacturer
	brandsOf      = 40 // of a category
	citiesOf      = 10 // of a nation
)

// combinations returns all sequences of one word of each list, with blanks
// between.
func combinations(lists ...[]string) []string {
	out := lists[0]
	for _, list := range lists[1:] {
		var longer []string
		for _, prefix := range out {
			for _, word := range list {
				longer = append(longer, prefix+" "+word)
			}
		}
		out = longer
	}
	return out
}

// split returns the nations' names, and for each nation the place of its
// region.
func split(nations []nation) (names []string, region []int8) {
	for _, n := range nations {
		names = append(names, n.name)
		for r, name := range regions {
			if name == n.region {
				region = append(region, int8(r))
			}
		}
	}
	return names, region
}

func cityNames() []string {
	var out []string
	for _, n := range nations {
		for digit := range citiesOf {
			out = append(out, fmt.Sprintf("%-9.9s%d", n.name, digit))
		}
	}
	return out
}

// hierarchy returns the names of all manufacturers, categories and brands; each
// list is in the order of the one above.
func hierarchy() (mfgrs, categories, brands []string) {
	for m := range manufacturers {
		mfgr := fmt.Sprintf("MFGR#%d", m+1)
		mfgrs = append(mfgrs, mfgr)
		for c := range categoriesOf {
			category := fmt.Sprintf("%s%d", mfgr, c+1)
			categories = append(categories, category)
			for b := range brandsOf {
				brands = append(brands, fmt.Sprintf("%s%d", category, b+1))
			}
		}
	}
	return mfgrs, categories, brands
}
