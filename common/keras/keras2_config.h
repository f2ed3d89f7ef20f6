// Brings the config of a model that Keras 2 wrote into the form of Keras 3.
//
//                       Keras 2                        Keras 3
//   modules             tf_keras.…                     keras.…
//   shape of an input   batch_input_shape              batch_shape
//   calls of a layer    [[["conv", 0, 0, {}]]]         [{args: [tensor]}]
//   axis of a BN        [3]                            3
//   x * 2               TFOpLambda, math.multiply      Multiply
//   calls of a model    count from 1                   from 0, as output from 1
//   training=False      binds a layer to inference     is only a default
//   reduction: auto     sum over the batch's size      is not there
//   hard_sigmoid        clip(0.2 x + 0.5, 0, 1)        relu6(x + 3) / 6:
//   refused
//
// Source: tf_keras 2.21, saving/serialization and engine/functional.
#ifndef PACELINE_COMMON_KERAS_KERAS2_CONFIG_H_
#define PACELINE_COMMON_KERAS_KERAS2_CONFIG_H_

#include "absl/status/status.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Leaves what Keras 3 wrote as it is, and what it does not know, for others to
// refuse. Unimplemented for what would compute something else: calls with
// `training` of layers that are trained or drop at random, hard_sigmoid, and
// functions of TensorFlow but for four operators.
absl::Status ConvertFromKeras2(Value& config, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_KERAS2_CONFIG_H_
