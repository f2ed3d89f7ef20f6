#include "common/model/dropout_mask.h"

#include <cmath>

namespace paceline {

DropoutMask::DropoutMask(double rate, uint64_t key)
    : DropoutMask(key,
                  static_cast<uint64_t>(std::llround(std::ldexp(rate, 32)))) {}

}  // namespace paceline
