// The part of mslite._runtime for training, which training.py uses.
#ifndef MSLITE_PYTHON_TRAINING_H
#define MSLITE_PYTHON_TRAINING_H

#include <nanobind/nanobind.h>

#include "include/api/model.h"

namespace mslite::python {

void DefineTrainingSettings(nanobind::module_ &module);
void DefineTraining(nanobind::class_<mindspore::Model> *model);

}  // namespace mslite::python

#endif
