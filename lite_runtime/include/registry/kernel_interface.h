/// The path of include/kernel_interface.h in some versions of MindSpore Lite.
#ifndef MINDSPORE_INCLUDE_REGISTRY_KERNEL_INTERFACE_H
#define MINDSPORE_INCLUDE_REGISTRY_KERNEL_INTERFACE_H

#include "include/kernel_interface.h"

#endif
