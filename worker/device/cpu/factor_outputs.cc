#include "worker/device/cpu/factor_outputs.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/depthwise_conv2d.h"
#include "common/model/layers/separable_conv2d.h"
#include "common/model/layers/zero_padding2d.h"
#include "worker/device/program/fused_clamp.h"

namespace paceline::cpu {
namespace {

bool IsAnyOf(const Node& node,
             std::initializer_list<absl::string_view> class_names) {
  return std::find(class_names.begin(), class_names.end(),
                   node.layer->class_name()) != class_names.end();
}

}  // namespace

bool IsReadAsFactors(const Graph& graph, const Node& node) {
  const auto index = static_cast<int>(&node - graph.nodes.data());
  if (ReaderCount(graph, index) != 1) return false;
  const auto reader = std::find_if(
      graph.nodes.begin(), graph.nodes.end(), [index](const Node& each) {
        return std::find(each.inputs.begin(), each.inputs.end(), index) !=
               each.inputs.end();
      });
  // That layer computes in float32.
  if (reader - graph.nodes.begin() == graph.output) return false;
  if (IsFusedIntoInput(graph, *reader) ||
      IsAnyOf(*reader, {ZeroPadding2D::kClassName})) {
    return IsReadAsFactors(graph, *reader);
  }
  return IsAnyOf(*reader,
                 {BatchNormalization::kClassName, Conv2D::kClassName,
                  DepthwiseConv2D::kClassName, SeparableConv2D::kClassName});
}

}  // namespace paceline::cpu
