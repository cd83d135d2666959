/* Shape rules of the post-processing of object detection. */
#include "detection/prior_box.h"
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_non_max_suppression) {
  (void)params, (void)inputs, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_INT32;
  outputs[0]->rank = 2;
  outputs[0]->dims[0] = mslite_new_symbol(context); /* depends on the scores */
  outputs[0]->dims[1] = 3;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_padded_non_max_suppression) {
  (void)input_count, (void)output_count;
  const mslite_tensor *boxes = inputs[0], *scores = inputs[1];
  const int64_t limit = ((const mslite_PaddedNonMaxSuppression *)params)->max_output_boxes;
  mslite_tensor *y = outputs[0];
  if (limit < 0) return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "max_output_boxes must not be below 0");
  if ((boxes->rank >= 0 && boxes->rank != 3) || (scores->rank >= 0 && scores->rank != 3))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "boxes and scores of 3 dimensions are needed");
  y->type = MSLITE_INT32;
  y->rank = 2;
  y->dims[0] = mslite_new_symbol(context);
  y->dims[1] = 3;
  if (boxes->rank < 0 || scores->rank < 0) return MSLITE_OK;
  const int64_t count = boxes->dims[1];
  if (mslite_is_symbol(count) && limit > 0) return MSLITE_OK;
  const int64_t lists = mslite_size_multiply(context, scores->dims[0], scores->dims[1]);
  y->dims[0] = mslite_size_multiply(context, lists, limit == 0 || limit < count ? limit : count);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_detection_post_process) {
  (void)inputs, (void)input_count;
  const mslite_DetectionPostProcess *attributes = params;
  const int64_t detections = attributes->max_detections;
  const int64_t classes = attributes->max_classes_per_detection;
  if (detections < 0 || detections > INT32_MAX || classes < 0 || classes > INT32_MAX) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "an invalid number of detections");
  }
  for (int32_t i = 0; i < output_count; ++i) {
    outputs[i]->type = MSLITE_FLOAT32;
    outputs[i]->rank = i == 0 ? 3 : i == 3 ? 1 : 2;
    outputs[i]->dims[0] = 1;
    outputs[i]->dims[1] = detections * classes;
    outputs[i]->dims[2] = 4;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_prior_box) {
  (void)input_count, (void)output_count;
  const int64_t priors = mslite_prior_count(params);
  mslite_tensor *y = outputs[0];
  y->type = MSLITE_FLOAT32;
  y->rank = 3;
  y->dims[0] = 1;
  y->dims[1] = 2;
  y->dims[2] = mslite_new_symbol(context);
  if (inputs[0]->rank < 0) return MSLITE_OK;
  if (inputs[0]->rank != 4)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a feature map of 4 dimensions is needed");
  const int64_t cells = mslite_size_multiply(context, inputs[0]->dims[1], inputs[0]->dims[2]);
  y->dims[2] = mslite_size_multiply(context, cells, 4 * priors);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_roi_align) {
  (void)input_count, (void)output_count;
  const mslite_RoiAlign *attributes = params;
  mslite_tensor *y = outputs[0];
  if (attributes->output_height < 1 || attributes->output_width < 1) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "the output size must be positive");
  }
  y->type = inputs[0]->type;
  y->rank = 4;
  y->dims[0] = inputs[1]->rank == 2 ? inputs[1]->dims[0] : mslite_new_symbol(context);
  y->dims[1] = inputs[0]->rank == 4 ? inputs[0]->dims[1] : mslite_new_symbol(context);
  y->dims[2] = attributes->output_height;
  y->dims[3] = attributes->output_width;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_detection_output) {
  (void)params, (void)inputs, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_FLOAT32;
  outputs[0]->rank = 4;
  outputs[0]->dims[0] = outputs[0]->dims[1] = 1;
  outputs[0]->dims[2] = mslite_new_symbol(context); /* depends on the scores */
  outputs[0]->dims[3] = 7;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_soft_non_max_suppression) {
  (void)params, (void)inputs, (void)input_count;
  if (output_count != 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "two outputs are needed");
  outputs[0]->type = MSLITE_INT32;
  outputs[1]->type = MSLITE_FLOAT32;
  outputs[0]->rank = outputs[1]->rank = 1;
  outputs[0]->dims[0] = outputs[1]->dims[0] = mslite_new_symbol(context); /* depends on the scores */
  return MSLITE_OK;
}
