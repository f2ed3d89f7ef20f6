#include "worker/device/cpu/onednn.h"

#include "glog/logging.h"

namespace paceline::cpu {

dnnl::memory::desc Layout(const dnnl::memory::dims& dims,
                          dnnl::memory::format_tag format, DataType type) {
  CHECK(type == DataType::kFloat32 || type == DataType::kBFloat16)
      << DataTypeName(type);
  return {dims,
          type == DataType::kBFloat16 ? dnnl::memory::data_type::bf16
                                      : dnnl::memory::data_type::f32,
          format};
}

PrimitiveCall::PrimitiveCall(const dnnl::primitive& primitive,
                             const dnnl::engine& engine,
                             const std::vector<PrimitiveArgument>& arguments)
    : primitive_(primitive), stream_(engine) {
  for (const PrimitiveArgument& argument : arguments) {
    dnnl::memory memory(argument.layout, engine, DNNL_MEMORY_NONE);
    arguments_.push_back({argument.index, memory.get()});
    bindings_.push_back(
        {std::move(memory), argument.tensor, argument.offset, nullptr});
  }
}

void PrimitiveCall::operator()(const Step& /*step*/) {
  for (Binding& binding : bindings_) {
    std::byte* const data = binding.tensor->data() + binding.offset;
    if (binding.data == data) continue;
    binding.data = data;
    binding.memory.set_data_handle(binding.data);
  }
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()),
      arguments_.data());
  CHECK_EQ(status, dnnl_success) << "oneDNN cannot run a primitive";
}

}  // namespace paceline::cpu
