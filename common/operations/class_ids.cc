#include "common/operations/class_ids.h"

#include <cstdlib>

#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/iota.h"
#include "common/operations/reshape.h"
#include "glog/logging.h"

namespace paceline::op {

Tensor AreSameIds(const Tensor& a, const Tensor& b, DataType type) {
  const Tensor real_a = Cast(a, type);
  return Equal(real_a, Cast(b, type));
}

Tensor IsId(const Tensor& ids, int64_t id, DataType type) {
  CHECK_LE(std::abs(id), kMaxClasses);
  return Equal(Cast(ids, type), static_cast<double>(id));
}

Tensor IsClass(const Tensor& ids, int64_t size, DataType type) {
  CHECK_LE(size, kMaxClasses);
  Shape column = ids.shape();
  column.push_back(1);
  const Tensor real_ids = Cast(Reshape(ids, column), type);
  return Equal(real_ids, Iota(ids.function(), size, type));
}

Tensor OneHot(const Tensor& ids, int64_t size, DataType type) {
  return Cast(IsClass(ids, size, type), type);
}

}  // namespace paceline::op
