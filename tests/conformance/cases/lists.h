// The lists of cases, by file.
#ifndef PACELINE_TESTS_CONFORMANCE_CASES_LISTS_H_
#define PACELINE_TESTS_CONFORMANCE_CASES_LISTS_H_

#include <string>
#include <vector>

#include "tests/conformance/cases.h"

namespace paceline {

Value Yaml(const std::string& text);
// A case under mean squared error.
Case Layers(const std::string& name, const std::string& layers);

// layer_cases.cc
std::vector<Case> DenseCases();
// Penalties on outputs.
std::vector<Case> ActivityPenaltyCases();
std::vector<Case> RescalingCases();
std::vector<Case> EmbeddingCases();
std::vector<Case> ActivationCases();

// normalization_cases.cc
std::vector<Case> NormalizationCases();
// Rectifiers that a device may fuse into the normalization before them, and
// some that it must not.
std::vector<Case> RectifiedNormalizationCases();
std::vector<Case> LayerNormalizationCases();
// By mean and variance that training does not change.
std::vector<Case> FixedNormalizationCases();

// image_cases.cc
std::vector<Case> UpSamplingCases();
// Every combination of kernel size, stride, padding and dilation, after a
// convolution whose gradient needs theirs.
std::vector<Case> ConvolutionCases();
// Convolutions in groups, after a convolution whose gradient needs theirs.
std::vector<Case> GroupedConvolutionCases();
std::vector<Case> TransposedConvolutionCases();
std::vector<Case> PoolingCases();

// sequence_cases.cc
std::vector<Case> SequenceCases();
std::vector<Case> RecurrentCases();
// Layers in the configs of others.
std::vector<Case> WrappedLayerCases();
std::vector<Case> AttentionCases();
// Layers that are random in training.
std::vector<Case> NoiseCases();

// loss_cases.cc
std::vector<Case> LossCases();
// Of losses whose sum is divided by that of the weights.
std::vector<Case> WeightedMeanCases();
std::vector<Case> MetricCases();

// graph_cases.cc Layers that read layers other than the one before them.
std::vector<Case> GraphCases();
// Frozen layers after, between and before others.
std::vector<Case> FrozenCases();
std::vector<Case> NetworkCases();

// output_cases.cc Models with several inputs and outputs.
std::vector<Case> OutputCases();

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_CASES_LISTS_H_
