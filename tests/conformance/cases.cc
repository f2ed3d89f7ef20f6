#include "tests/conformance/cases.h"

#include <utility>

#include "common/config/yaml_reader.h"
#include "common/limits.h"
#include "glog/logging.h"
#include "tests/conformance/cases/lists.h"

namespace paceline {

Value Yaml(const std::string& text) {
  const auto value = ReadYaml(text, "case", limits::kMaxJobBytes);
  CHECK(value.ok()) << value.status();
  return *value;
}

Case Layers(const std::string& name, const std::string& layers) {
  return {name, {.layers = Yaml(layers)}};
}

const std::vector<Case>& Cases() {
  static const auto& cases = *[] {
    auto* all = new std::vector<Case>;
    for (auto* some : {DenseCases,
                       ActivityPenaltyCases,
                       NormalizationCases,
                       RectifiedNormalizationCases,
                       LayerNormalizationCases,
                       FixedNormalizationCases,
                       RescalingCases,
                       SequenceCases,
                       RecurrentCases,
                       WrappedLayerCases,
                       AttentionCases,
                       NoiseCases,
                       UpSamplingCases,
                       EmbeddingCases,
                       ActivationCases,
                       ConvolutionCases,
                       GroupedConvolutionCases,
                       TransposedConvolutionCases,
                       PoolingCases,
                       LossCases,
                       WeightedMeanCases,
                       MetricCases,
                       GraphCases,
                       FrozenCases,
                       OutputCases,
                       NetworkCases}) {
      for (Case& each : some()) all->push_back(std::move(each));
    }
    return all;
  }();
  return cases;
}

}  // namespace paceline
