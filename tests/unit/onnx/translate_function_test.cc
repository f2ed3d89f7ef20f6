#include "common/onnx/translate_function.h"

#include <string>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/iota.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/resize.h"
#include "common/operations/select.h"
#include "gmock/gmock.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The same function for both batch sizes.
class TranslateFunctionTest : public ::testing::Test {
 protected:
  template <typename Make>
  absl::Status Translate(const Shape& example, Make make) {
    const op::Tensor first = Made(function_, kFirstBatch, example, make);
    const op::Tensor second = Made(second_, kSecondBatch, example, make);
    CHECK_EQ(first.id(), second.id());
    names_[function_.parameters()[0]] = graph_.UniqueName("x");
    graph_.SetBatchOf("x");
    return TranslateFunction({function_, second_}, {first.id()}, graph_,
                             names_);
  }

  std::vector<std::string> Types() const {
    std::vector<std::string> types;
    for (const onnx::NodeProto& node : proto_.node()) {
      types.push_back(node.op_type());
    }
    return types;
  }

  onnx::GraphProto proto_;
  OnnxGraph graph_{proto_};

 private:
  template <typename Make>
  static op::Tensor Made(op::Function& function, int64_t batch,
                         const Shape& example, Make make) {
    Shape shape = {batch};
    shape.insert(shape.end(), example.begin(), example.end());
    function.SetOwner("layer last");
    return make(function.AddParameter({DataType::kFloat32, shape}));
  }

  op::Function function_;
  op::Function second_;
  ValueNames names_;
};

TEST_F(TranslateFunctionTest, AnOperationWithoutAFormIsRefused) {
  const absl::Status status =
      Translate({3}, [](const op::Tensor& x) { return op::ArgMax(x); });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "layer last: the operation ArgMax has no form in ONNX");
}

TEST_F(TranslateFunctionTest, ConstantsHaveALimitTogether) {
  const int64_t most = kMaxConstantElements;
  const absl::Status one = Translate({3}, [](const op::Tensor& x) {
    return op::Iota(x.function(), int64_t{1} << 40, DataType::kInt32);
  });
  EXPECT_EQ(one.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(one.message()),
              AllOf(HasSubstr("layer last: 1 constant of shape"),
                    HasSubstr("1099511627776"), HasSubstr("33554432")));
  ASSERT_TRUE(graph_.ReserveConstants(1, {most - 4}).ok());
  EXPECT_FALSE(graph_.ReserveConstants(5, {1}).ok());
  EXPECT_TRUE(graph_.ReserveConstants(4, {1}).ok());
}

TEST_F(TranslateFunctionTest, TablesOfAResizeCount) {
  const absl::Status status = Translate({1, 1, 1}, [](const op::Tensor& x) {
    return op::Resize(x, op::ResizeMode::kNearest, {1, int64_t{1} << 40});
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("layer last: 4 constants of shape"),
                    HasSubstr("1099511627776")));
}

TEST_F(TranslateFunctionTest, TheBatchCannotBeInTwoAxes) {
  const absl::Status status = Translate({3, 4}, [](const op::Tensor& x) {
    const int64_t batch = x.dimension(0);
    const op::Tensor pairs = op::Broadcast(x + 1, {batch, batch, 3, 4});
    return op::Reshape(pairs, {batch, batch, 12});
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("layer last: two axes of a Reshape"));
}

TEST_F(TranslateFunctionTest, AReshapeFindsTheBatchAtRunTime) {
  ASSERT_TRUE(Translate({3, 4}, [](const op::Tensor& x) {
                return op::Reshape(x, {x.dimension(0) * 3, 4});
              }).ok());
  EXPECT_THAT(Types(), ElementsAre("Reshape"));
}

TEST_F(TranslateFunctionTest, AnExpansionReadsTheSizeOfTheBatch) {
  ASSERT_TRUE(Translate({3}, [](const op::Tensor& x) {
                return op::Full(x.function(), x.type(), 2) + x;
              }).ok());
  EXPECT_THAT(Types(),
              ElementsAre("Shape", "Slice", "Concat", "Expand", "Add"));
}

TEST_F(TranslateFunctionTest, BoolsAreSelectedByLogic) {
  ASSERT_TRUE(Translate({3}, [](const op::Tensor& x) {
                return op::And(op::Less(x, 1), op::Less(x, 2));
              }).ok());
  EXPECT_EQ(Types().back(), "Or");
}

}  // namespace
}  // namespace paceline
