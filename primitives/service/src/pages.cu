// The translation unit of pages.ptx.
#include "deltas.h"
