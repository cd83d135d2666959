// Winograd convolutions: fewer multiplications, but more memory traffic. A cost estimate decides if they are faster.
#include "opencl/operators/opencl_winograd.h"

#include <algorithm>
#include <array>

namespace mslite {
namespace {
// A tile size, with the floating-point operations of kernels/gpu/winograd.cl for one tile and channel.
struct Form {
  int64_t tile;
  int64_t in_flops;
  int64_t out_flops;
  std::array<std::array<double, 3>, 6> weights;  // the matrix G
  int64_t size() const { return tile + 2; }
};

constexpr Form kForms[] = {
    {2, 8 * 4, 6 * 4 + 4, {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}}},
    {4,
     12 * 24,
     10 * 13 + 16,
     {{{1.0 / 4, 0, 0},
       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
       {1.0 / 24, 1.0 / 12, 1.0 / 6},
       {1.0 / 24, -1.0 / 12, 1.0 / 6},
       {0, 0, 1}}}},
};

// Approximate speed of a phone's GPU, per second.
constexpr double kFlops = 5e11;
constexpr double kCachedBytes = 2e11;  // loads by work items, mostly from caches
constexpr double kBytes = 2e10;        // device memory
constexpr double kLaunch = 1e-5;       // minimum time of a launch in seconds

double Seconds(int64_t flops, int64_t loaded, int64_t moved) {
  const auto bytes = static_cast<double>(sizeof(float));
  return static_cast<double>(flops) / kFlops + static_cast<double>(loaded) * bytes / kCachedBytes +
         static_cast<double>(moved) * bytes / kBytes;
}

struct Tiles {
  int64_t rows;
  int64_t columns;
  int64_t count;  // tiles of all images
};

Tiles TilesOf(const mslite_convolution &g, const Form &form) {
  const int64_t rows = (g.height.output + form.tile - 1) / form.tile;
  const int64_t columns = (g.width.output + form.tile - 1) / form.tile;
  return {rows, columns, g.batch * rows * columns};
}

double SecondsOf(const mslite_convolution &g, const Form &form) {
  const Tiles tiles = TilesOf(g, form);
  const int64_t numbers = form.size() * form.size();
  const int64_t in = tiles.count * g.in_channels;
  const int64_t out = tiles.count * g.out_channels;
  const int64_t products = numbers * in * g.out_channels;
  const int64_t moved =
      numbers * (2 * in + 2 * out + g.in_channels * g.out_channels) +
      g.batch * (g.height.input * g.width.input * g.in_channels + g.height.output * g.width.output * g.out_channels);
  return 2 * kLaunch +
         Seconds(2 * products + in * form.in_flops + out * form.out_flops, products / 2 + numbers * (in + out), moved);
}

double SecondsDirectly(const mslite_convolution &g) {
  const int64_t pixels = g.batch * g.height.output * g.width.output;
  const int64_t products = 9 * pixels * g.in_channels * g.out_channels;
  const int64_t moved = g.batch * g.height.input * g.width.input * g.in_channels + pixels * g.out_channels +
                        9 * g.in_channels * g.out_channels;
  return Seconds(2 * products, products / 2, moved);
}

const Form *FormOf(int64_t tile) {
  for (const Form &form : kForms) {
    if (form.tile == tile) return &form;
  }
  return nullptr;
}

// Transforms the weights to [position in the tile][input channels][output channels].
std::vector<float> Transform(const mslite_convolution &g, const Form &form, const std::vector<float> &weight) {
  const int64_t size = form.size();
  const int64_t in = g.in_channels;
  const int64_t out = g.out_channels;
  std::vector<float> made(static_cast<size_t>(size * size * in * out));
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t k = 0; k < in; ++k) {
      for (int64_t row = 0; row < size; ++row) {
        for (int64_t column = 0; column < size; ++column) {
          double sum = 0;
          for (int64_t i = 0; i < 3; ++i) {
            for (int64_t j = 0; j < 3; ++j) {
              sum += form.weights[static_cast<size_t>(row)][static_cast<size_t>(i)] *
                     form.weights[static_cast<size_t>(column)][static_cast<size_t>(j)] *
                     static_cast<double>(weight[static_cast<size_t>((o * 9 + 3 * i + j) * in + k)]);
            }
          }
          made[static_cast<size_t>(((row * size + column) * in + k) * out + o)] = static_cast<float>(sum);
        }
      }
    }
  }
  return made;
}
}  // namespace

int64_t WinogradTile(const mslite_convolution &g) {
  const auto fits = [](const mslite_axis &axis) { return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1; };
  if (!fits(g.height) || !fits(g.width) || g.group != 1 || g.in_channels % 4 != 0 || g.out_channels % 4 != 0) return 0;
  int64_t tile = 0;
  double least = SecondsDirectly(g);
  for (const Form &form : kForms) {
    // Kernels use 32-bit indices.
    const int64_t numbers = form.size() * form.size() * TilesOf(g, form).count;
    const double seconds = SecondsOf(g, form);
    if (numbers * std::max(g.in_channels, g.out_channels) > INT32_MAX / 16 || seconds >= least) continue;
    least = seconds;
    tile = form.tile;
  }
  return tile;
}

void PlanWinograd(const mslite_convolution &g, int64_t tile, OpenClPlan *plan) {
  const Form &form = *FormOf(tile);
  const Tiles tiles = TilesOf(g, form);
  const int64_t numbers = form.size() * form.size();
  const OpenClOperand in = plan->Scratch(numbers * tiles.count * g.in_channels);
  const OpenClOperand out = plan->Scratch(numbers * tiles.count * g.out_channels);
  const OpenClOperand weight = plan->Weights(Transform(g, form, RealsOf(*plan->node().inputs[1])), g.out_channels);

  OpenClLaunch &first = plan->Launch("winograd", "winograd_in");
  first.Define("TILE", tile)
      .Input("x", plan->Input(0), OpenClAccessPattern::Rows(g.width.input * g.in_channels))
      .Output("v", in);
  first.Integer(g.height.input).Integer(g.width.input).Integer(g.height.pad_before).Integer(g.width.pad_before);
  first.Integer(g.in_channels).Integer(tiles.rows).Items(g.in_channels / 4, tiles.columns, g.batch * tiles.rows);
  first.Touches(0, numbers * tiles.count * g.in_channels).Operations(tiles.count * g.in_channels * form.in_flops);

  mslite_matmul product = {};
  product.batch = numbers;
  product.m = tiles.count;
  product.k = g.in_channels;
  product.n = g.out_channels;
  std::vector<int64_t> matrices;
  for (int64_t i = 0; i < numbers; ++i) matrices.insert(matrices.end(), {i, i});
  LaunchProduct(product, matrices, in, weight, weight, out, plan)
      .Operations(2 * numbers * product.m * product.k * product.n);

  OpenClLaunch &last = plan->Launch("winograd", "winograd_out");
  last.Define("TILE", tile).Define("ACTIVATION", g.activation).TakesEpilogue(true);
  if (g.has_bias) last.Define("BIAS", 1);
  last.Input("products", out);
  last.Input("bias", g.has_bias ? plan->Input(2) : weight, OpenClAccessPattern::Rows(g.out_channels));
  last.Output("y", plan->Output(), OpenClAccessPattern::Fours());
  last.Integer(g.height.output).Integer(g.width.output).Integer(g.out_channels).Integer(tiles.rows);
  last.Items(g.out_channels / 4, tiles.columns, g.batch * tiles.rows);
  last.Touches(1, g.has_bias ? tiles.count * g.out_channels : 0);
  last.Operations(tiles.count * g.out_channels * form.out_flops);
}
}  // namespace mslite
