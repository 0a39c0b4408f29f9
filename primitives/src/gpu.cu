// The translation unit of the GPU's bitcode.
#include "all.h"
