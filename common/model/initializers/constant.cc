#include "common/model/initializers/constant.h"

#include "glog/logging.h"

namespace paceline {
namespace {

FieldTable<Constant> FixedTable(const char* class_name, const char* help,
                                double value) {
  return FieldTable<Constant>(class_name, help, {}, [=] {
    Constant fixed;
    fixed.value = value;
    fixed.table_name = class_name;
    return fixed;
  });
}

}  // namespace

const std::vector<FieldTable<Constant>>& Constant::Tables() {
  static const auto& tables = *new std::vector<FieldTable<Constant>>{
      FixedTable("Zeros", "0 everywhere.", 0),
      FixedTable("Ones", "1 everywhere.", 1),
      FieldTable<Constant>("Constant", "One value everywhere.",
                           {Optional("value", &Constant::value, "The value.")}),
  };
  return tables;
}

Constant Constant::Named(absl::string_view class_name) {
  for (const FieldTable<Constant>& table : Tables()) {
    if (table.name() == class_name) return *table.Read(nullptr, Path());
  }
  LOG(FATAL) << "no initializer " << class_name;
}

}  // namespace paceline
