// Config keys that steps share, for their field tables.
#ifndef PACELINE_COMMON_DATA_STEP_STEP_FIELDS_H_
#define PACELINE_COMMON_DATA_STEP_STEP_FIELDS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/config/field_table.h"
#include "common/data_step/affine.h"
#include "common/model/keras_fields.h"

namespace paceline {

// The keys of Keras' base class, which say nothing here, and `own`.
template <typename S>
std::vector<Field<S>> StepFields(std::vector<Field<S>> own) {
  std::vector<Field<S>> base = {
      NotWritten(Ignored("name", nullptr, "Of no effect.")),
      NotWritten(Ignored("trainable", nullptr, "Of no effect.")),
      NotWritten(DtypeField())};
  return Joined<S>({std::move(own), std::move(base)});
}

// The same for a step on images.
template <typename S>
std::vector<Field<S>> ImageStepFields(std::vector<Field<S>> own) {
  own.push_back(Only("data_format", "channels_last", "Layout of images."));
  return StepFields<S>(std::move(own));
}

// The size of what a step makes of an image.
template <typename S>
std::vector<Field<S>> SizeFields() {
  // As much as JPEG and PNG files may have in one direction.
  constexpr int64_t kMaxSide = 65535;
  return {
      Required("height", &S::height, Between(1, kMaxSide), "Rows of pixels."),
      Required("width", &S::width, Between(1, kMaxSide), "Columns of pixels.")};
}

// `seed` may be a member of a base class of the step, as those of FillFields.
template <typename S>
Field<S> SeedField() {
  return Optional("seed", static_cast<std::optional<int64_t> S::*>(&S::seed),
                  "What is drawn depends on it instead of the job's seed.");
}

// Of an AffineStep.
template <typename S>
std::vector<Field<S>> FillFields() {
  return {Optional("fill_mode", static_cast<FillMode S::*>(&S::fill_mode),
                   "What lies beyond the edges of an image."),
          Optional("interpolation",
                   static_cast<AffineInterpolation S::*>(&S::interpolation),
                   "How pixels between others are computed."),
          SeedField<S>(),
          Optional("fill_value", static_cast<double S::*>(&S::fill_value),
                   "Beyond the edges with `fill_mode: constant`.")};
}

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_STEP_FIELDS_H_
