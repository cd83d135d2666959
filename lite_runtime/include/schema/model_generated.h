/// The tables of model files: what `const schema::Primitive *` points to. Needs FlatBuffers' headers.
#ifndef MINDSPORE_INCLUDE_SCHEMA_MODEL_GENERATED_H
#define MINDSPORE_INCLUDE_SCHEMA_MODEL_GENERATED_H

#include "schema/ops_generated.h"

#endif
