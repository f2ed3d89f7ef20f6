#include "common/operations/iota.h"

#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/reshape.h"

namespace paceline::op {

Tensor OneHot(const Tensor& ids, int64_t size, DataType type) {
  Shape column = ids.shape();
  column.push_back(1);
  return Cast(Equal(Reshape(ids, column), Iota(ids.function(), size)), type);
}

}  // namespace paceline::op
