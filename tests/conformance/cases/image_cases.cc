#include "absl/strings/str_cat.h"
#include "tests/conformance/cases/lists.h"

namespace paceline {

std::vector<Case> UpSamplingCases() {
  std::vector<Case> cases;
  for (const char* kind : {"nearest", "bilinear"}) {
    for (const char* size : {"2", "[3, 1]", "[1, 4]"}) {
      cases.push_back(
          Layers(absl::StrCat("up_sampling_", kind, "_", cases.size()),
                 absl::StrCat("[Input: {shape: [4, 3, 2]}, Conv2D: {filters: 3,"
                              " kernel_size: 1}, UpSampling2D: {size: ",
                              size, ", interpolation: ", kind,
                              "}, Conv2D: {filters: 2, kernel_size: 2}]")));
    }
  }
  return cases;
}

std::vector<Case> ConvolutionCases() {
  std::vector<Case> cases;
  const auto add = [&cases](const std::string& name,
                            const std::string& config) {
    cases.push_back(Layers(
        name, absl::StrCat("[Input: {shape: [9, 7, 3]}, Conv2D: {filters: 2, "
                           "kernel_size: 1}, Conv2D: {filters: 5, ",
                           config, "}]")));
  };
  for (const char* padding : {"valid", "same"}) {
    for (const char* kernel : {"1", "3", "[2, 4]", "5"}) {
      for (const char* strides : {"1", "2", "[1, 3]"}) {
        add(absl::StrCat("conv_", cases.size(), "_", padding),
            absl::StrCat("kernel_size: ", kernel, ", strides: ", strides,
                         ", padding: ", padding));
      }
    }
    for (const char* dilation : {"2", "[1, 3]"}) {
      add(absl::StrCat("conv_", cases.size(), "_", padding, "_dilated"),
          absl::StrCat("kernel_size: [3, 2], dilation_rate: ", dilation,
                       ", padding: ", padding));
    }
  }
  add("conv_no_bias", "kernel_size: 3, use_bias: false");
  cases.push_back(Layers("conv_first",
                         "[Input: {shape: [6, 5, 1]},"
                         " Conv2D: {filters: 17, kernel_size: 3}]"));
  cases.push_back(Layers("conv_pixel",
                         "[Input: {shape: [1, 1, 1]},"
                         " Conv2D: {filters: 1, kernel_size: 1}]"));
  return cases;
}

std::vector<Case> GroupedConvolutionCases() {
  const auto behind = [](const std::string& name, int channels,
                         const std::string& layer) {
    return Layers(name,
                  absl::StrCat("[Input: {shape: [7, 6, 3]}, Conv2D: "
                               "{filters: ",
                               channels, ", kernel_size: 1}, ", layer, "]"));
  };
  std::vector<Case> cases;
  for (const char* more :
       {"kernel_size: 3", "kernel_size: [2, 3], padding: same, strides: 2",
        "kernel_size: 3, dilation_rate: [2, 1], use_bias: false",
        "kernel_size: 3, padding: same, activation: relu"}) {
    const auto named = [&](const char* kind) {
      return absl::StrCat(kind, "_", cases.size());
    };
    const std::string config = more;
    cases.push_back(behind(named("grouped"), 6,
                           "Conv2D: {filters: 4, groups: 2, " + config + "}"));
    cases.push_back(behind(named("grouped_wide"), 32,
                           "Conv2D: {filters: 48, groups: 2, " + config + "}"));
    cases.push_back(
        behind(named("wide"), 64, "Conv2D: {filters: 48, " + config + "}"));
    cases.push_back(
        behind(named("depthwise"), 5, "DepthwiseConv2D: {" + config + "}"));
    cases.push_back(behind(named("depthwise_wide"), 35,
                           "DepthwiseConv2D: {" + config + "}"));
    cases.push_back(
        behind(named("depthwise_multiplied"), 3,
               "DepthwiseConv2D: {depth_multiplier: 3, " + config + "}"));
    cases.push_back(behind(
        named("separable"), 4,
        "SeparableConv2D: {filters: 5, depth_multiplier: 2, " + config + "}"));
  }
  // For a batch of 5, the CPU's im2col matrix has several parts.
  cases.push_back(Layers("wide_large",
                         "[Input: {shape: [40, 40, 64]}, Conv2D: {filters: 8,"
                         " kernel_size: 3, strides: [1, 2]}]"));
  cases.push_back(
      behind("depthwise_of_one", 1, "DepthwiseConv2D: {kernel_size: 3}"));
  cases.push_back(behind(
      "separable_regularized", 3,
      "SeparableConv2D: {filters: 2, kernel_size: 3, depthwise_regularizer: l2,"
      " pointwise_regularizer: l1, bias_regularizer: l2}"));
  cases.push_back(behind("zero_padding", 3,
                         "ZeroPadding2D: {padding: [[0, 1], [2, 3]]},"
                         " Conv2D: {filters: 2, kernel_size: 3}"));
  cases.push_back(behind("zero_padding_none", 3,
                         "ZeroPadding2D: {padding: 0}, Flatten: {},"
                         " Dense: {units: 2}"));
  cases.push_back(behind("cropping", 3,
                         "Cropping2D: {cropping: [[1, 0], [2, 1]]},"
                         " Conv2D: {filters: 2, kernel_size: 2}"));
  return cases;
}

std::vector<Case> TransposedConvolutionCases() {
  std::vector<Case> cases;
  for (const char* config :
       {"kernel_size: 3", "kernel_size: [2, 4], strides: [2, 3]",
        "kernel_size: 2, strides: 3, activation: relu",
        "kernel_size: 3, strides: 2, padding: same, use_bias: false",
        "kernel_size: [4, 3], dilation_rate: [1, 2], padding: same",
        "kernel_size: 3, strides: 3, padding: same, output_padding: [0, 2]",
        "kernel_size: 3, strides: [3, 2], output_padding: [2, 0],"
        " kernel_regularizer: l2"}) {
    cases.push_back(
        Layers(absl::StrCat("transposed_", cases.size()),
               absl::StrCat("[Input: {shape: [4, 5, 2]}, Conv2D: {filters: 3,"
                            " kernel_size: 1}, Conv2DTranspose: {filters: 5, ",
                            config, "}, Dense: {units: 2}]")));
  }
  return cases;
}

std::vector<Case> PoolingCases() {
  std::vector<Case> cases;
  for (const char* kind : {"MaxPooling2D", "AveragePooling2D"}) {
    for (const char* padding : {"valid", "same"}) {
      for (const char* window :
           {"pool_size: 2", "pool_size: 3, strides: 2",
            "pool_size: 2, strides: 3", "pool_size: [1, 4], strides: 1"}) {
        cases.push_back(Layers(
            absl::StrCat(kind, "_", cases.size(), "_", padding),
            absl::StrCat("[Input: {shape: [7, 6, 2]}, Conv2D: {filters: 3,"
                         " kernel_size: 1}, ",
                         kind, ": {", window, ", padding: ", padding, "}]")));
      }
    }
    // As in the tutorial's network: an activation that a device may fuse.
    cases.push_back(
        Layers(absl::StrCat(kind, "_relu"),
               absl::StrCat("[Input: {shape: [9, 9, 1]}, Conv2D: {filters: 4,"
                            " kernel_size: 3, activation: relu}, ",
                            kind, ": {}, Flatten: {}, Dense: {units: 2}]")));
  }
  // First layers whose convolution and pooling the CPU fuses: the number of
  // filters is a multiple of 16.
  for (const char* convolution :
       {"kernel_size: 3", "kernel_size: 3, padding: same",
        "kernel_size: [2, 4], padding: same, use_bias: false"}) {
    cases.push_back(
        Layers(absl::StrCat("MaxPooling2D_pooled_convolution_", cases.size()),
               absl::StrCat("[Input: {shape: [7, 8, 2]}, Conv2D: {filters: 16,"
                            " activation: relu, ",
                            convolution,
                            "}, MaxPooling2D: {}, Flatten: {},"
                            " Dense: {units: 2}]")));
  }
  // With mixed_bfloat16 the normalization writes the bfloat16 values that the
  // convolution multiplies.
  cases.push_back(
      Layers("MaxPooling2D_pooled_convolution_normalized",
             "[Input: {shape: [7, 8, 2]}, BatchNormalization: {trainable:"
             " false}, Conv2D: {filters: 16, kernel_size: 3, activation:"
             " relu}, MaxPooling2D: {}, Flatten: {}, Dense: {units: 2}]"));
  for (const char* kind : {"GlobalMaxPooling2D", "GlobalAveragePooling2D"}) {
    cases.push_back(Layers(
        kind, absl::StrCat("[Input: {shape: [7, 6, 2]}, Conv2D: {filters:"
                           " 5, kernel_size: 3}, ",
                           kind, ": {}, Dense: {units: 2}]")));
  }
  // A rectifier of a dense layer, which a device may fuse into the pooling.
  cases.push_back(
      Layers("MaxPooling2D_dense",
             "[Input: {shape: [5, 6, 2]}, Dense: {units: 3, activation: relu},"
             " MaxPooling2D: {pool_size: 3, strides: 2}, MaxPooling2D: {}]"));
  // Of several equal maxima, one gets the gradient.
  cases.push_back(
      Layers("MaxPooling2D_equal",
             "[Input: {shape: [3, 3, 2]}, UpSampling2D: {}, Conv2D: {filters:"
             " 3, kernel_size: 1}, MaxPooling2D: {pool_size: 3, strides: 1},"
             " Flatten: {}, Dense: {units: 2}]"));
  for (const char* keepdims : {"false", "true"}) {
    cases.push_back(Layers(
        absl::StrCat("global_average_keepdims_", keepdims),
        absl::StrCat("[Input: {shape: [5, 3, 2]}, Conv2D: {filters: 3,"
                     " kernel_size: 2}, GlobalAveragePooling2D: {keepdims: ",
                     keepdims, "}]")));
  }
  // The sums are beyond float16, their averages are not.
  cases.push_back(Layers("global_average_large_sums",
                         "[Input: {shape: [40, 40, 2]}, Rescaling: {scale: 8,"
                         " offset: 50}, GlobalAveragePooling2D: {},"
                         " Dense: {units: 2}]"));
  return cases;
}

}  // namespace paceline
