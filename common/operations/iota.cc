#include "common/operations/iota.h"

#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/reshape.h"

namespace paceline::op {

Tensor IsClass(const Tensor& ids, int64_t size) {
  Shape column = ids.shape();
  column.push_back(1);
  const Tensor classes = Iota(ids.function(), size);
  return Equal(Reshape(ids, column), classes);
}

Tensor OneHot(const Tensor& ids, int64_t size, DataType type) {
  return Cast(IsClass(ids, size), type);
}

}  // namespace paceline::op
