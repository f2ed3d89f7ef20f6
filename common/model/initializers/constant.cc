#include "common/model/initializers/constant.h"

namespace paceline {

const std::vector<FieldTable<Constant>>& Constant::Tables() {
  static const auto& tables = *new std::vector<FieldTable<Constant>>{
      FieldTable<Constant>("Zeros", "0 everywhere.", {}),
      FieldTable<Constant>("Ones", "1 everywhere.", {},
                           [] {
                             Constant ones;
                             ones.value = 1;
                             return ones;
                           }),
      FieldTable<Constant>("Constant", "One value everywhere.",
                           {Optional("value", &Constant::value, "The value.")}),
  };
  return tables;
}

const FieldTable<Constant>& Constant::table() const {
  return Tables()[value == 0 ? 0 : value == 1 ? 1 : 2];
}

}  // namespace paceline
