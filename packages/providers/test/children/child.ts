import { serveAdapters } from '../../src/children/serve.ts'
import { testOutbound } from '../outbound.ts'

// An adapter child for tests. It may connect to any address.

serveAdapters(() => testOutbound())
