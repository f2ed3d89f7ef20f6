// A transport whose Nth exchange fails or hangs.
#ifndef PACELINE_TESTS_CONFORMANCE_FAULTY_TRANSPORT_H_
#define PACELINE_TESTS_CONFORMANCE_FAULTY_TRANSPORT_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "worker/collective/transport.h"

namespace paceline {

struct Fault {
  // Which exchange, from 0; -1: none.
  int exchange = -1;
  // How long the rank then does nothing; zero: the exchange fails.
  absl::Duration hang;
};

class FaultyTransport : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> transport, Fault fault)
      : transport_(std::move(transport)), fault_(fault) {}

  int rank() const override { return transport_->rank(); }
  int world_size() const override { return transport_->world_size(); }
  std::string NameOf(int rank) const override {
    return transport_->NameOf(rank);
  }
  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override {
    if (exchange_++ == fault_.exchange) {
      if (fault_.hang == absl::ZeroDuration()) {
        return absl::UnavailableError(
            absl::StrCat(NameOf(rank()), " lost its cable"));
      }
      absl::SleepFor(fault_.hang);
    }
    return transport_->Exchange(to, out, from, in_size, sink);
  }
  void Abort(const absl::Status& reason) override { transport_->Abort(reason); }

 private:
  const std::unique_ptr<Transport> transport_;
  const Fault fault_;
  int exchange_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_FAULTY_TRANSPORT_H_
