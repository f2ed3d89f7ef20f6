#include "common/job/fit_fields.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/message_fields.h"

namespace paceline {

// Validates every so many epochs, or after the epochs in a list.
struct ValidationFreq {
  int64_t every_epochs = 1;
  std::vector<int64_t> epochs;
};

template <>
struct Codec<ValidationFreq> {
  static absl::Status Read(const Value& value, const Path& path,
                           ValidationFreq& out) {
    if (!value.is_list()) {
      if (!value.is_number()) return WrongType(value, path, Type());
      return Codec<int64_t>::Read(value, path, out.every_epochs);
    }
    RETURN_IF_ERROR(Codec<std::vector<int64_t>>::Read(value, path, out.epochs));
    if (!out.epochs.empty()) return absl::OkStatus();
    return ConfigError(path, "is empty; expected at least one epoch");
  }
  static Value Write(const ValidationFreq& m) {
    return m.epochs.empty() ? Value(m.every_epochs)
                            : Codec<std::vector<int64_t>>::Write(m.epochs);
  }
  static std::string Type() {
    return absl::StrCat(Codec<int64_t>::Type(), " or ",
                        Codec<std::vector<int64_t>>::Type());
  }
};

// As Keras' `verbose`: "auto", or a number.
template <>
struct Codec<v1::Verbose> {
  static constexpr std::array<v1::Verbose, 3> kByNumber = {
      v1::VERBOSE_SILENT, v1::VERBOSE_BAR, v1::VERBOSE_LINES};

  static absl::Status Read(const Value& value, const Path& path,
                           v1::Verbose& out) {
    if (value.is_string() && value.as_string() == "auto") {
      out = v1::VERBOSE_UNSPECIFIED;
      return absl::OkStatus();
    }
    for (size_t i = 0; i < kByNumber.size(); ++i) {
      if (value != Value(static_cast<int64_t>(i))) continue;
      out = kByNumber[i];
      return absl::OkStatus();
    }
    return WrongType(value, path, "auto, 0, 1 or 2");
  }
  static Value Write(v1::Verbose m) {
    for (size_t i = 0; i < kByNumber.size(); ++i) {
      if (m == kByNumber[i]) return static_cast<int64_t>(i);
    }
    return "auto";
  }
  static std::string Type() { return "`auto`|`0`|`1`|`2`"; }
};

namespace v1 {

absl::Span<const EnumName<ProgressStyle>> EnumNames(ProgressStyle) {
  static constexpr EnumName<ProgressStyle> kNames[] = {
      {PROGRESS_STYLE_KERAS3, "keras3"}, {PROGRESS_STYLE_KERAS2, "keras2"}};
  return kNames;
}

}  // namespace v1

namespace {

constexpr double kMaxEpochs = std::numeric_limits<int32_t>::max();

Accessors<v1::Job, ValidationFreq> Freq() {
  return {
      [](const v1::Job& job) {
        return ValidationFreq{
            std::max<int64_t>(job.validation_freq(), 1),
            {job.validation_epochs().begin(), job.validation_epochs().end()}};
      },
      [](v1::Job& job, const ValidationFreq& freq) {
        // 1 is the default, and is not stored, so that it does not change
        // the job's fingerprint.
        job.set_validation_freq(freq.every_epochs == 1
                                    ? 0
                                    : static_cast<uint32_t>(freq.every_epochs));
        job.mutable_validation_epochs()->Assign(freq.epochs.begin(),
                                                freq.epochs.end());
      }};
}

}  // namespace

Field<v1::Job> InitialEpochField() {
  return Optional(
      "initial_epoch",
      Whole(&v1::Job::initial_epoch, &v1::Job::set_initial_epoch),
      Between(0, kMaxEpochs - 1),
      "The number, from 0, of the first epoch; that of the last one is "
      "`epochs` - 1. `--resume` goes on from the checkpoint instead.");
}

Field<v1::Job> ValidationFreqField() {
  return Optional("validation_freq", Freq(), Between(1, kMaxEpochs),
                  "Validates after every so many epochs, or after those in a "
                  "list, which count from 1. Other epochs have no `val_` "
                  "values.");
}

Field<v1::Job> ValidationStepsField() {
  return Optional(
      "validation_steps",
      Whole(&v1::Job::validation_steps, &v1::Job::set_validation_steps),
      Between(0, kMaxEpochs),
      "Validates on the first so many batches, each of as many examples as a "
      "step of training has; 0: on all.");
}

Field<v1::Job> VerboseField() {
  return Optional("verbose", Scalar(&v1::Job::verbose, &v1::Job::set_verbose),
                  "What is shown of training, as by Keras' fit, and of the "
                  "evaluation of `data.test`, as by its evaluate: `0` nothing, "
                  "`1` a progress bar, `2` a line an epoch; `auto`: a bar on a "
                  "terminal, else lines.");
}

Field<v1::Job> ProgressField() {
  return Optional(
      "progress",
      Scalar(&v1::Job::progress_style, &v1::Job::set_progress_style),
      "Whose bars and lines these are: those of Keras 3 or of Keras 2, the "
      "latter as in TensorFlow before 2.16.");
}

}  // namespace paceline
