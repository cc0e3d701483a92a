import { logSink } from '@skerry/contract/log-sink/endpoints'
import { route } from '../../http/route.ts'
import { feature } from '../billing/scope.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { get, remove, set, test } from './log-sink.ts'

export const routes = [
  route(logSink.get, unbound(admin), get),
  route(logSink.set, feature('log_sink', unbound(admin)), set),
  route(logSink.delete, unbound(admin), remove),
  route(logSink.test, unbound(admin), test),
]
