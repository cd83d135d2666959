/* For programs that include "include/model_handle.h". */
#include "../src/model_handle.h"
