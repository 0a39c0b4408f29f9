// The translation unit of pages.ptx.
#include "pages.h"
