#include "tests/conformance/operation_forms.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/operations/batch_moments.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/channel_normalization.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/convolution.h"
#include "common/operations/gather_rows.h"
#include "common/operations/gradient.h"
#include "common/operations/group_normalization.h"
#include "common/operations/iota.h"
#include "common/operations/map.h"
#include "common/operations/matrix_product.h"
#include "common/operations/pad.h"
#include "common/operations/pooled_convolution.h"
#include "common/operations/pooling.h"
#include "common/operations/random.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/resize.h"
#include "common/operations/reverse.h"
#include "common/operations/select.h"
#include "common/operations/slice.h"
#include "common/operations/softmax.h"
#include "common/operations/sum_over_replicas.h"
#include "common/operations/transpose.h"
#include "tests/conformance/scan_forms.h"

namespace paceline {
namespace {

using Inputs = absl::Span<const op::Tensor>;
using Forms = std::vector<OperationForm>;

// --- Helpers

OperationForm Form(std::string operation, std::string form,
                   std::vector<Shape> inputs,
                   std::function<op::Tensor(Inputs)> make) {
  return {std::move(operation), std::move(form), std::move(inputs),
          std::move(make)};
}

Forms LackedBy(const std::vector<std::string>& devices, Forms forms) {
  for (OperationForm& form : forms) form.lacked_by = devices;
  return forms;
}

Forms Joined(const std::vector<Forms>& lists) {
  Forms all;
  for (const Forms& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

DataType RealType(Inputs in) { return in[0].data_type(); }

// Maps (-1, 1) to integers of [0, count).
op::Tensor Ids(const op::Tensor& x, int64_t count) {
  return op::Cast((x + 1) * (static_cast<double>(count) / 2), DataType::kInt32);
}

op::Tensor Positive(const op::Tensor& x) { return op::Abs(x) + 0.125; }

// A float64 value per channel.
op::Tensor Sums(const op::Tensor& x) { return op::BatchMoments(x, false).mean; }

// --- Convolution and pooling

const Shape kImages = {2, 7, 6, 4};
const op::Window2D kPairs = {
    {{.size = 2, .stride = 2}, {.size = 2, .stride = 2}}};
const op::Window2D kPaddedOnOneSide = {
    {{.size = 3, .stride = 2, .pad_after = 1},
     {.size = 2, .stride = 1, .pad_before = 1}}};
const op::ConvolutionParameters kPlain = {{{{.size = 3}, {.size = 2}}}};

Forms ConvolutionsOf(const std::string& form,
                     const op::ConvolutionParameters& parameters) {
  const auto& [vertical, horizontal] = parameters.window;
  const std::vector<Shape> inputs = {
      kImages,
      {vertical.size, horizontal.size, kImages.back() / parameters.groups, 8}};
  const auto convolved = [parameters](Inputs in) {
    return op::Convolution(in[0], in[1], parameters);
  };
  return {
      Form("Convolution", form, inputs, convolved),
      Form("ConvolutionInputGradient", form, inputs,
           [=](Inputs in) { return GradientsOf(convolved(in), in.first(1)); }),
      Form("ConvolutionKernelGradient", form, inputs,
           [=](Inputs in) { return GradientsOf(convolved(in), in.last(1)); }),
  };
}

Forms BiasedForms() {
  const std::vector<Shape> inputs = {kImages, {3, 2, 4, 8}, {8}};
  const std::vector<Shape> of_pixels = {kImages, {1, 1, 4, 8}, {8}};
  const auto biased = [](Inputs in) {
    return op::Convolution(in[0], in[1], kPlain) + in[2];
  };
  const auto rectified = [](const op::ConvolutionParameters& parameters) {
    return [parameters](Inputs in) {
      return op::AddCall(op::ConvolutionOperation(
                             parameters, {.has_bias = true, .rectifies = true}),
                         in);
    };
  };
  return Joined(
      {{Form("Convolution", "biased", inputs, biased),
        Form(
            "ConvolutionKernelGradient", "with_that_of_a_bias", inputs,
            [=](Inputs in) { return GradientsOf(biased(in), in.subspan(1)); })},
       LackedBy({"cpu"},
                {Form("Convolution", "rectified", inputs, rectified(kPlain))}),
       LackedBy({"cpu", "cuda"}, {Form("Convolution", "of_pixels_rectified",
                                       of_pixels, rectified({}))})});
}

Forms ConvolutionForms() {
  return Joined(
      {BiasedForms(), ConvolutionsOf("of_pixels", {}),
       ConvolutionsOf("plain", kPlain),
       ConvolutionsOf("padded_on_one_side", {kPaddedOnOneSide}),
       ConvolutionsOf(
           "that_leaves_a_rest",
           {{{{.size = 2, .stride = 3, .pad_after = -2}, {.size = 2}}}}),
       ConvolutionsOf(
           "dilated",
           {{{{.size = 3, .dilation = 2, .pad_before = 2, .pad_after = 2},
              {.size = 2, .dilation = 3}}}}),
       ConvolutionsOf("in_groups", {kPlain.window, 2}),
       ConvolutionsOf("depthwise", {kPaddedOnOneSide, 4})});
}

Forms PooledConvolutionForms() {
  const op::PooledConvolutionParameters parameters = {
      {{{{.size = 3, .pad_before = 1, .pad_after = 1}, {.size = 3}}}}, kPairs};
  const auto pooled = [=](Inputs in) {
    const auto operation = std::make_shared<op::PooledConvolutionOperation>(
        parameters, /*has_bias=*/true, /*has_positions=*/true);
    return InARow(in[0].function().AddCall(operation, in), RealType(in));
  };
  // Maps the second input to positions from -1 to 3.
  const auto gradients = [=](Inputs in) {
    const auto operation =
        std::make_shared<op::PooledConvolutionKernelGradientOperation>(
            parameters, /*has_row_sum=*/true);
    const op::Tensor positions =
        op::Cast((in[1] + 1) * 3 - 2, DataType::kInt32);
    return InARow(
        in[0].function().AddCall(operation, {in[0], positions, in[2]}),
        RealType(in));
  };
  const Shape images = {2, 6, 6, 2};
  const Shape outputs = {2, 3, 2, 16};
  return LackedBy(
      {"cuda"}, {Form("PooledConvolution", "with_positions",
                      {images, {3, 3, 2, 16}, {16}}, pooled),
                 Form("PooledConvolutionKernelGradient", "with_that_of_a_bias",
                      {images, outputs, outputs}, gradients)});
}

Forms PoolingForms(const std::string& form, const op::Window2D& window) {
  const auto largest = [=](Inputs in) { return op::MaxPooling(in[0], window); };
  const auto mean = [=](Inputs in) {
    return op::AveragePooling(in[0], window);
  };
  const auto rectified = [=](Inputs in) {
    return op::AddCall(op::MaxPoolingOperation(window, true), in);
  };
  const auto gradient_of_rectified = [=](Inputs in) {
    const op::Tensor y = op::Relu(largest(in));
    const op::Tensor dy = y + 1;
    return op::AddCall(op::MaxPoolingGradientOperation(window, true),
                       {in[0], y, dy});
  };
  const std::vector<Shape> images = {kImages};
  return Joined(
      {{Form("MaxPooling", form, images, largest),
        Form("MaxPoolingGradient", form, images,
             [=](Inputs in) { return GradientsOf(largest(in), in); }),
        Form("AveragePooling", form, images, mean),
        Form("AveragePoolingGradient", form, images,
             [=](Inputs in) { return GradientsOf(mean(in), in); })},
       LackedBy({"cuda"},
                {Form("MaxPooling", form + "_rectified", images, rectified),
                 Form("MaxPoolingGradient", form + "_rectified", images,
                      gradient_of_rectified)})});
}

Forms ResizeForms(const std::string& form, op::ResizeMode mode) {
  const auto resized = [mode](Inputs in) {
    return op::Resize(in[0], mode, {14, 5});
  };
  return {Form("Resize", form, {kImages}, resized),
          Form("ResizeGradient", form, {kImages},
               [=](Inputs in) { return GradientsOf(resized(in), in); })};
}

// --- Normalization

// The inputs are x, gamma, beta, and a mean and a variance, which `normalized`
// may ignore.
Forms ChannelForms(const std::string& form,
                   const std::function<op::Tensor(Inputs)>& normalized) {
  const std::vector<Shape> inputs = {{3, 4, 5}, {5}, {5}, {5}, {5}};
  return {Form("ChannelNormalization", form, inputs, normalized),
          Form("ChannelGradientSums", form, inputs,
               [=](Inputs in) {
                 return GradientsOf(normalized(in), in.subspan(1, 2));
               }),
          Form("ChannelNormalizationGradient", form, inputs, [=](Inputs in) {
            return GradientsOf(normalized(in), in.first(1));
          })};
}

Forms BatchForms(const std::string& form, bool over_replicas) {
  const auto moments = [=](Inputs in) {
    const auto [count, mean, variance] = op::BatchMoments(in[0], over_replicas);
    return InARow({count, mean, variance}, RealType(in));
  };
  const auto normalized = [=](Inputs in) {
    return op::NormalizeByBatch(in[0], op::BatchMoments(in[0], over_replicas),
                                over_replicas, {in[1], in[2]}, 1e-3);
  };
  const auto clamped = [=](Inputs in) {
    return op::ClampNormalization(normalized(in), {.floor = 0, .ceiling = 0.5});
  };
  return Joined({{Form("BatchMoments", form, {{3, 4, 5}}, moments)},
                 ChannelForms(form, normalized),
                 ChannelForms(form + "_clamped", clamped)});
}

Forms NormalizationForms() {
  const auto by_given = [](Inputs in) {
    const op::Tensor variance = Positive(in[4]);
    return op::NormalizeChannels(in[0], in[3], variance, {in[1], in[2]}, 1e-3);
  };
  const auto in_groups = [](Inputs in) {
    return op::GroupNormalization(in[0], in[1], in[2], 2, 1e-3);
  };
  const auto of_rows = [](Inputs in) {
    return op::GroupNormalization(in[0], {}, {}, 1, 1e-3);
  };
  const std::vector<Shape> columns = {{3, 4, 6}, {6}, {6}};
  const std::vector<Shape> rows = {{12, 1, 6}};
  return Joined({BatchForms("of_batch", false),
                 BatchForms("of_all_batches", true),
                 ChannelForms("given", by_given),
                 {Form("GroupNormalization", "in_groups", columns, in_groups),
                  Form("GroupNormalization", "of_rows", rows, of_rows),
                  Form("GroupNormalizationGradient", "in_groups", columns,
                       [=](Inputs in) {
                         return GradientsOf(in_groups(in), in.first(1));
                       }),
                  Form("GroupNormalizationGradient", "of_rows", rows,
                       [=](Inputs in) { return GradientsOf(of_rows(in), in); }),
                  Form("GroupNormalizationGammaGradient", "in_groups", columns,
                       [=](Inputs in) {
                         return GradientsOf(in_groups(in), in.last(2));
                       })}});
}

// --- Products, softmax, sums

Forms ProductForms() {
  const auto product = [](bool left, bool right) {
    return
        [=](Inputs in) { return op::MatrixProduct(in[0], in[1], left, right); };
  };
  const auto biased = [=](Inputs in) {
    return product(false, false)(in) + in[2];
  };
  const std::vector<Shape> with_bias = {{4, 3}, {3, 5}, {5}};
  return Joined(
      {{Form("MatrixProduct", "plain", {{4, 3}, {3, 5}}, product(false, false)),
        Form("MatrixProduct", "left", {{3, 4}, {3, 5}}, product(true, false)),
        Form("MatrixProduct", "right", {{4, 3}, {5, 3}}, product(false, true)),
        Form("MatrixProduct", "biased", with_bias, biased),
        Form("MatrixProduct", "with_sum_of_rows", with_bias,
             [=](Inputs in) { return GradientsOf(biased(in), in); })},
       {Form("MatrixProduct", "both", {{3, 4}, {5, 3}}, product(true, true)),
        Form("MatrixProduct", "of_a_batch", {{2, 4, 3}, {2, 3, 5}},
             product(false, false)),
        Form("MatrixProduct", "of_a_batch_left", {{2, 2, 3, 4}, {2, 2, 3, 5}},
             product(true, false)),
        Form("MatrixProduct", "of_a_batch_right", {{2, 4, 3}, {2, 5, 3}},
             product(false, true)),
        Form("MatrixProduct", "of_a_batch_both", {{2, 3, 4}, {2, 5, 3}},
             product(true, true))}});
}

Forms SoftmaxForms(int axis) {
  const std::string form = absl::StrCat("axis_", axis);
  const std::vector<Shape> x = {{3, 4, 5}};
  const auto softmax = [=](Inputs in) { return op::Softmax(in[0] * 9, axis); };
  const auto log_softmax = [=](Inputs in) {
    return op::LogSoftmax(in[0] * 9, axis);
  };
  return {Form("Softmax", form, x, softmax),
          Form("SoftmaxGradient", form, x,
               [=](Inputs in) { return GradientsOf(softmax(in), in); }),
          Form("LogSoftmax", form, x, log_softmax),
          Form("LogSoftmaxGradient", form, x,
               [=](Inputs in) { return GradientsOf(log_softmax(in), in); })};
}

Forms ReductionForms() {
  const std::vector<Shape> x = {{3, 4, 2, 5}};
  const auto sums = [](std::vector<int> axes) -> OperationForm {
    return Form("Reduce", absl::StrCat("axes_", absl::StrJoin(axes, "_")),
                {{3, 4, 2, 5}},
                [=](Inputs in) { return op::Sum(in[0], axes); });
  };
  const auto maxima = [](std::vector<int> axes) -> OperationForm {
    return Form("Reduce", absl::StrCat("max_", absl::StrJoin(axes, "_")),
                {{3, 4, 2, 5}},
                [=](Inputs in) { return op::Max(in[0], axes); });
  };
  const auto shared = [](Inputs in) {
    const std::vector<op::Tensor> both = {Sums(in[0]), Sums(in[1])};
    return InARow(op::SumOverReplicas(both), RealType(in));
  };
  return {
      sums({0}),
      sums({3}),
      sums({1, 2}),
      sums({0, 3}),
      sums({0, 1, 2, 3}),
      maxima({3}),
      maxima({1, 2}),
      maxima({0, 3}),
      Form("ArgMax", "rows", x, [](Inputs in) { return op::ArgMax(in[0]); }),
      Form("SumOverReplicas", "of_sums", {{4, 3}, {2, 5}}, shared)};
}

// --- Maps

Forms ElementwiseForms() {
  const auto select = [](Inputs in) {
    const op::Tensor is_less = op::Less(in[0], in[1]);
    return op::Select(op::Or(is_less, op::Not(op::LessEqual(in[0], 0.25))),
                      in[0] * 2, in[1]);
  };
  const auto select_by_column = [](Inputs in) {
    return op::Select(op::Less(in[1], 0.25), in[0], in[0] * 2);
  };
  const auto of_ids_and_bools = [](Inputs in) {
    const op::Tensor ids = op::Cast(Ids(in[0], 3), RealType(in));
    const op::Tensor mask = op::DropoutMask(in[0].function(), {4, 5}, 0.4, 7);
    return op::Select(op::And(mask, op::Equal(ids, 1)), ids, in[0]);
  };
  const auto long_chain = [](Inputs in) {
    op::Tensor y = in[0];
    for (int i = 0; i < 40; ++i) y = op::Tanh(y + in[0]);
    return y;
  };
  return {
      Form("Elementwise", "broadcast", {{3, 1, 5}, {2, 1}, {}},
           [](Inputs in) { return in[0] * in[1] - in[2]; }),
      Form("Elementwise", "repeat", {{3, 1}},
           [](Inputs in) {
             return op::Broadcast(in[0], {2, 3, 5});
           }),
      Form("Elementwise", "select", {{4, 5}, {5}}, select),
      Form("Elementwise", "select_by_column", {{4, 5}, {5}}, select_by_column),
      Form("Elementwise", "of_ids_and_bools", {{4, 5}}, of_ids_and_bools),
      Form("Elementwise", "long_chain", {{4, 5}}, long_chain)};
}

// Each function of one and of two inputs.
Forms MapForms() {
  Forms forms;
  for (int i = 0; i <= static_cast<int>(op::MapFunction::kRelu); ++i) {
    const auto function = static_cast<op::MapFunction>(i);
    const bool is_of_positive =
        function == op::MapFunction::kLog || function == op::MapFunction::kSqrt;
    forms.push_back(Form(
        "Elementwise", std::string(op::MapFunctionName(function)), {{4, 5}},
        [=](Inputs in) {
          return op::Map(function, is_of_positive ? Positive(in[0]) : in[0]);
        }));
  }
  for (int i = 0; i <= static_cast<int>(op::BinaryFunction::kMinimum); ++i) {
    const auto function = static_cast<op::BinaryFunction>(i);
    forms.push_back(
        Form("Elementwise", std::string(op::BinaryFunctionName(function)),
             {{4, 5}, {4, 5}}, [=](Inputs in) {
               return op::BinaryMap(function, Positive(in[0]), in[1]);
             }));
  }
  return forms;
}

// --- Moved elements, and operations without inputs

Forms MovingForms() {
  const std::vector<Shape> x = {{3, 4, 5}};
  return Joined(
      {{Form("Reshape", "flat", x,
             [](Inputs in) { return op::Reshape(in[0] + 1, {60}); }),
        Form("Reshape", "of_integers", {{9}},
             [](Inputs in) {
               return op::Reshape(Ids(in[0], 9), {3, 3});
             }),
        Form("Transpose", "axes", x,
             [](Inputs in) {
               return op::Transpose(in[0], {2, 0, 1});
             }),
        Form("Transpose", "of_images", {{2, 3, 4, 5}},
             [](Inputs in) {
               return op::Transpose(in[0], {0, 2, 1, 3});
             }),
        Form("Reverse", "middle_axis", x,
             [](Inputs in) { return op::Reverse(in[0], 1); }),
        Form("Reverse", "last_axis", x,
             [](Inputs in) { return op::Reverse(in[0], 2); }),
        Form("Concatenate", "first_axis", {{1, 4}, {3, 4}},
             [](Inputs in) { return op::Concatenate(in, 0); }),
        Form("Concatenate", "last_axis", {{2, 3, 1}, {2, 3, 4}, {2, 3, 2}},
             [](Inputs in) { return op::Concatenate(in, -1); }),
        Form("Pad", "zeros", x,
             [](Inputs in) {
               return op::Pad(in[0], {{1, 0}, {0, 2}, {3, 1}});
             }),
        Form("Slice", "box", x,
             [](Inputs in) {
               return op::Slice(in[0], {1, 0, 2}, {2, 4, 2});
             }),
        Form("GatherRows", "of_matrices", {{5, 2, 3}, {2, 2}},
             [](Inputs in) { return op::GatherRows(in[0], Ids(in[1], 5)); }),
        Form("SumRows", "of_vectors", {{2, 4}, {2, 4, 3}},
             [](Inputs in) { return op::SumRows(Ids(in[0], 3), in[1], 4); }),
        Form("SumRows", "of_ones", {{9}},
             [](Inputs in) {
               const op::Tensor ones =
                   op::Full(in[0].function(), in[0].type(), 1);
               return op::SumRows(Ids(in[0], 3), ones, 4);
             }),
        Form("SumRows", "of_numbers", {{9}, {9}},
             [](Inputs in) { return op::SumRows(Ids(in[0], 3), in[1], 4); })},
       LackedBy({"cpu"}, {Form("Pad", "a_number", {{4}}, [](Inputs in) {
                  return op::Pad(in[0], {{1, 2}}, 7);
                })})});
}

// Operations without inputs, and conversions.
Forms SourceForms() {
  const auto mask = [](Inputs in, Shape shape) {
    return op::DropoutMask(in[0].function(), std::move(shape), 0.4, 7);
  };
  return {
      Form("Cast", "to_integers", {{9}},
           [](Inputs in) { return op::Cast(in[0] * 5, DataType::kInt32); }),
      Form("Cast", "of_sums", {{4, 3}}, [](Inputs in) { return Sums(in[0]); }),
      Form("Constant", "floats", {{1}},
           [](Inputs in) {
             return op::Constants(in[0].function(), RealType(in), {1, -2.5, 3});
           }),
      Form("Iota", "floats", {{1}},
           [](Inputs in) {
             return op::Iota(in[0].function(), 5, RealType(in));
           }),
      Form("DropoutMask", "of_elements", {{1}},
           [=](Inputs in) {
             return mask(in, {3, 4, 5});
           }),
      Form("DropoutMask", "of_channels", {{3, 4, 5}},
           [=](Inputs in) {
             return in[0] * op::Cast(mask(in, {3, 1, 5}), RealType(in));
           }),
      Form("RandomNormal", "of_elements", {{1}}, [](Inputs in) {
        return op::RandomNormal(in[0].function(), {RealType(in), {3, 4}}, 7);
      })};
}

// --- Forms that devices lack

// Integers are ids, which devices only compare and look rows up by.
Forms IntegerForms() {
  const auto ids = [](Inputs in) { return Ids(in[0], 9); };
  const auto constants = [](Inputs in) {
    return op::Constants(in[0].function(), DataType::kInt32, {4, 1});
  };
  const auto form = [](const std::string& operation,
                       std::function<op::Tensor(Inputs)> make) {
    return Form(operation, "of_integers", {{9}}, std::move(make));
  };
  return LackedBy(
      {"cpu", "cuda"},
      {form("BinaryMap",
            [=](Inputs in) {
              const op::Tensor id = ids(in);
              return id + id;
            }),
       form("Reduce", [=](Inputs in) { return op::Sum(ids(in), {0}); }),
       form("Concatenate",
            [=](Inputs in) { return op::Concatenate({ids(in)}, 0); }),
       form("Pad",
            [=](Inputs in) {
              return op::Pad(ids(in), {{1, 2}});
            }),
       form("Slice", [=](Inputs in) { return op::Slice(ids(in), {2}, {5}); }),
       form("GatherRows",
            [=](Inputs in) {
              const op::Tensor id = ids(in);
              return op::GatherRows(id, id);
            }),
       form("SumRows",
            [=](Inputs in) {
              const op::Tensor id = ids(in);
              return op::SumRows(id, id, 9);
            }),
       form("Constant",
            [=](Inputs in) { return op::GatherRows(in[0], constants(in)); }),
       form("Iota", [](Inputs in) {
         return op::Iota(in[0].function(), 5, DataType::kInt32);
       })});
}

Forms LackedForms() {
  const std::vector<Shape> x = {{3, 4, 5}};
  const auto product_of_sums = [](Inputs in) {
    const op::Tensor row = op::Reshape(Sums(in[0]), {1, 5});
    return op::MatrixProduct(row, row, false, true);
  };
  return LackedBy({"cpu", "cuda"},
                  {Form("SumOverReplicas", "of_floats", x,
                        [](Inputs in) { return op::SumOverReplicas(in[0]); }),
                   Form("MatrixProduct", "of_sums", x, product_of_sums)});
}

}  // namespace

op::Tensor InARow(Inputs tensors, DataType type) {
  std::vector<op::Tensor> rows;
  for (const op::Tensor& tensor : tensors) {
    rows.push_back(op::Reshape(op::Cast(tensor, type), {1, tensor.count()}));
  }
  return op::Concatenate(rows, 1);
}

op::Tensor GradientsOf(const op::Tensor& y, Inputs inputs) {
  std::vector<double> weights;
  for (int64_t i = 0; i < y.count(); ++i) {
    weights.push_back(static_cast<double>(i * 7 % 11) / 8 - 0.5);
  }
  const op::Tensor dy = op::Reshape(
      op::Constants(y.function(), y.data_type(), weights), y.shape());
  std::vector<op::Tensor> gradients;
  for (const auto& gradient : op::AddGradients({y}, {dy}, inputs)) {
    gradients.push_back(*gradient);
  }
  return InARow(gradients, y.data_type());
}

const std::vector<OperationForm>& OperationForms() {
  static const auto& all = *new Forms(Joined(
      {ConvolutionForms(), PooledConvolutionForms(),
       PoolingForms("pairs", kPairs),
       PoolingForms("padded_on_one_side", kPaddedOnOneSide),
       ResizeForms("nearest", op::ResizeMode::kNearest),
       ResizeForms("bilinear", op::ResizeMode::kBilinear), NormalizationForms(),
       ProductForms(), SoftmaxForms(1), SoftmaxForms(2), ReductionForms(),
       ElementwiseForms(), MapForms(), MovingForms(), ScanForms(),
       SourceForms(), IntegerForms(), LackedForms()}));
  return all;
}

}  // namespace paceline
