// The first values of an LSTM's bias with unit_forget_bias.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_FORGET_BIAS_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_FORGET_BIAS_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/initializer.h"

namespace paceline {

// 1 in the second of four gates of `units` elements; `others` elsewhere. No
// class of Keras: configs have `others`.
class ForgetBias final : public Initializer {
 public:
  ForgetBias(int64_t units, std::shared_ptr<const Initializer> others)
      : units_(units), others_(std::move(others)) {}

  absl::string_view class_name() const override { return "ForgetBias"; }
  absl::Status CheckShape(absl::Span<const int64_t> shape) const override {
    return others_->CheckShape(shape);
  }
  bool computes_whole() const override { return others_->computes_whole(); }
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<float> out) const override {
    FillAny(key, shape, begin, out);
  }
  void Fill(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
            absl::Span<double> out) const override {
    FillAny(key, shape, begin, out);
  }

 private:
  template <typename T>
  void FillAny(RandomKey key, absl::Span<const int64_t> shape, int64_t begin,
               absl::Span<T> out) const {
    others_->Fill(key, shape, begin, out);
    for (T& value : out) {
      if (begin / units_ == 1) value = 1;
      ++begin;
    }
  }

  const int64_t units_;
  const std::shared_ptr<const Initializer> others_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_FORGET_BIAS_H_
