"""Talk to a runtime: processes and pipes, the protocol, workers, adapters, and the runner that asks
case after case.
"""
