// Functions of whole rows. x is [outer, length, inner]; the elements of a row are `inner` apart. A work group of GROUP
// items, a power of two, computes one row.
#define FOR_ROW(i) for (int i = get_local_id(0); i < length; i += GROUP)

// LOGARITHM: log-softmax.
kernel void softmax(INPUT(x), OUTPUT(y), int length, int inner) {
  local float shared[GROUP];
  const int row = get_group_id(0);
  const int base = row / inner * length * inner + row % inner;
  float top = -INFINITY;
  FOR_ROW(i) top = fmax(top, load(x, base + i * inner));
  top = group_max(top, shared);
  float total = 0.0f;
  FOR_ROW(i) total += exp(load(x, base + i * inner) - top);
  total = group_sum(total, shared);
#ifdef LOGARITHM
  const float shift = top + log(total);
  FOR_ROW(i) store(y, base + i * inner, load(x, base + i * inner) - shift);
#else
  FOR_ROW(i) store(y, base + i * inner, exp(load(x, base + i * inner) - top) / total);
#endif
}

// (x - mean) / sqrt(variance + epsilon), times gamma and plus beta if they exist. PARAMETER: the index in gamma and
// beta for element i of the row at `outside` and `inside`. UNCENTERED: the mean is 0.
#ifdef PARAMETER
kernel void normalize_rows(INPUT(x), INPUT(gamma), INPUT(beta), OUTPUT(y), int length, int inner, float epsilon EPILOGUE) {
  local float shared[GROUP];
  const int outside = get_group_id(0) / inner;
  const int inside = get_group_id(0) % inner;
  const int base = outside * length * inner + inside;
  float mean = 0.0f;
#ifndef UNCENTERED
  FOR_ROW(i) mean += load(x, base + i * inner);
  mean = group_sum(mean, shared) / (float)length;
#endif
  float variance = 0.0f;
  FOR_ROW(i) {
    const float difference = load(x, base + i * inner) - mean;
    variance += difference * difference;
  }
  variance = group_sum(variance, shared) / (float)length;
  const float factor = 1.0f / sqrt(variance + epsilon);
  FOR_ROW(i) {
    float value = (load(x, base + i * inner) - mean) * factor;
#ifdef GAMMA
    value *= load(gamma, PARAMETER);
#endif
#ifdef BETA
    value += load(beta, PARAMETER);
#endif
    store(y, base + i * inner, FUSED(value, base + i * inner));
  }
}
#endif

// x divided by its norm. ABSOLUTE: the sum of magnitudes; otherwise the root of the sum of squares, at least `least`. A
// norm of 0 gives 0.
kernel void norm(INPUT(x), OUTPUT(y), int length, int inner, float least) {
  local float shared[GROUP];
  const int row = get_group_id(0);
  const int base = row / inner * length * inner + row % inner;
  float total = 0.0f;
  FOR_ROW(i) {
    const float value = load(x, base + i * inner);
#ifdef ABSOLUTE
    total += fabs(value);
#else
    total += value * value;
#endif
  }
  total = group_sum(total, shared);
#ifndef ABSOLUTE
  total = sqrt(fmax(total, least));
#endif
  FOR_ROW(i) {
    store(y, base + i * inner, total == 0.0f ? 0.0f : activate(load(x, base + i * inner) / total));
  }
}

// Local response normalization over `radius` channels on each side.
kernel void local_response(INPUT(x), OUTPUT(y), int channels, int radius, float bias, float alpha, float beta,
                           int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int channel = at % channels;
  float total = 0.0f;
  for (int i = max(-radius, -channel); i <= min(radius, channels - 1 - channel); ++i) {
    const float value = load(x, at + i);
    total += value * value;
  }
  store(y, at, load(x, at) / pow(bias + alpha * total, beta));
}
