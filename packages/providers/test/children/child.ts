import { serveAdapters } from '../../src/children/serve.ts'
import { testOutbound } from '../outbound.ts'

// An adapter child of tests, which connects to anything.

serveAdapters(() => testOutbound())
