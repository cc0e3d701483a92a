import { serveAdapters } from '../../src/children/serve.ts'
import { testOutside } from '../outside.ts'

// An adapter child of tests, which connects to anything.

serveAdapters(() => testOutside())
