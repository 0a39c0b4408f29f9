// The translation unit of the CPUs' bitcode.
#include "all.h"
