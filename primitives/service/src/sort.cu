// The translation unit of sort.ptx.
#include "sort.h"
