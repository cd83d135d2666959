/// The other place that sources look for it in.
#ifndef MINDSPORE_INCLUDE_REGISTRY_KERNEL_INTERFACE_H
#define MINDSPORE_INCLUDE_REGISTRY_KERNEL_INTERFACE_H

#include "include/kernel_interface.h"

#endif
