// The translation unit of sort.ptx.
#include "sort.h"
#include "order.h"
