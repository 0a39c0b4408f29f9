// The translation unit of service.ptx.
#include "kernels.h"
