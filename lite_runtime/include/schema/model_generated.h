/// The FlatBuffers tables of model files, with schema::Primitive. Needs FlatBuffers' headers.
#ifndef MINDSPORE_INCLUDE_SCHEMA_MODEL_GENERATED_H
#define MINDSPORE_INCLUDE_SCHEMA_MODEL_GENERATED_H

#include "schema/ops_generated.h"

#endif
