// A transport whose Nth exchange fails or hangs.
#ifndef PACELINE_TESTS_CONFORMANCE_FAULTY_TRANSPORT_H_
#define PACELINE_TESTS_CONFORMANCE_FAULTY_TRANSPORT_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/conformance/forwarding_transport.h"

namespace paceline {

struct Fault {
  // Which exchange, from 0; -1: none.
  int exchange = -1;
  // How long the rank then hangs; zero: the exchange fails instead.
  absl::Duration hang;
};

class FaultyTransport : public ForwardingTransport {
 public:
  FaultyTransport(std::unique_ptr<Transport> transport, Fault fault)
      : ForwardingTransport(std::move(transport)), fault_(fault) {}

  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override {
    if (exchange_++ == fault_.exchange) {
      if (fault_.hang == absl::ZeroDuration()) {
        return absl::UnavailableError(
            absl::StrCat(NameOf(rank()), " lost its cable"));
      }
      absl::SleepFor(fault_.hang);
    }
    return ForwardingTransport::Exchange(to, out, from, in_size, sink);
  }

 private:
  const Fault fault_;
  int exchange_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_FAULTY_TRANSPORT_H_
