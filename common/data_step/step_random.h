// The random numbers of a step for an example.
#ifndef PACELINE_COMMON_DATA_STEP_STEP_RANDOM_H_
#define PACELINE_COMMON_DATA_STEP_STEP_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/model/philox.h"

namespace paceline {

// An example in a pass over the data. What a step draws depends on this and on
// the step alone: not on workers, threads, or where a job was resumed.
struct ExamplePass {
  uint64_t seed = 0;
  // How often the data was passed over before.
  int64_t pass = 0;
  // Its index in the source.
  int64_t example = 0;
};

// Draws one number after the other.
class StepRandom {
 public:
  // `place`: of the step among those of its data set.
  StepRandom(const ExamplePass& example, size_t place)
      : example_(example), place_(place) {}

  // Continues with `seed` in the place of the job's, if there is one.
  void Reseed(std::optional<int64_t> seed) {
    if (seed) example_.seed = static_cast<uint64_t>(*seed);
  }

  // Uniform in [low, high), and `low` if they are equal; as float32, which may
  // round to `high`.
  float Uniform(double low, double high) {
    constexpr double kUnit = 1.0 / (uint64_t{1} << 32);
    return static_cast<float>(low + (high - low) * (Bits() * kUnit));
  }

  // Uniform in [0, bound), which is at most 2^31.
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(
        (uint64_t{Bits()} * static_cast<uint64_t>(bound)) >> 32);
  }

 private:
  // Apart from the streams of initializers and dropout.
  static constexpr uint64_t kStream = 0xda7a57e9'00000000;

  uint32_t Bits() {
    const uint64_t key = MixKey(PhiloxKey({example_.seed, kStream + place_}),
                                static_cast<uint64_t>(example_.pass));
    return Philox(key, static_cast<uint64_t>(example_.example), draw_++)[0];
  }

  ExamplePass example_;
  size_t place_;
  uint64_t draw_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_STEP_RANDOM_H_
