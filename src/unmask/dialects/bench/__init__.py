"""What benchmarks print, turned into samples: openssl, cryptsetup, ab, s_time, fio, dd, iperf3.

Every `parse` takes what one run has printed (standard output, error output or both, in either
order; or what somebody pasted) and answers with a tuple of `Sample` that is never empty. None
raises: output from which no figure may be taken becomes a sample without `rate` whose `ended` and
`note` say why. Output comes from guests and from clipboards: it is bounded, cut and cleaned first.
"""
