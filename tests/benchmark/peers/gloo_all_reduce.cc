#include "tests/benchmark/peers/gloo_all_reduce.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace paceline::peers {

struct GlooAllReduce::Impl {
  std::shared_ptr<gloo::rendezvous::Context> context;
};

GlooAllReduce::GlooAllReduce(const std::string& folder, int rank,
                             int world_size)
    : impl_(std::make_unique<Impl>()) {
  gloo::rendezvous::FileStore store(folder);
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  impl_->context =
      std::make_shared<gloo::rendezvous::Context>(rank, world_size);
  impl_->context->connectFullMesh(store, device);
}

GlooAllReduce::~GlooAllReduce() = default;

void GlooAllReduce::Run(absl::Span<float> values) {
  gloo::AllreduceOptions options(impl_->context);
  options.setOutput(values.data(), values.size());
  options.setReduceFunction(
      [](void* sum, const void* a, const void* b, size_t count) {
        gloo::sum<float>(static_cast<float*>(sum), static_cast<const float*>(a),
                         static_cast<const float*>(b), count);
      });
  gloo::allreduce(options);
}

}  // namespace paceline::peers
