import { Type } from 'typebox'
import { get } from '../endpoint.ts'
import { Strict } from '../schema.ts'

export const health = {
  live: get('/health', {
    summary: 'Liveness: the process answers',
    surface: 'none',
    responses: { 200: Strict({ status: Type.Literal('ok') }) },
  }),
  ready: get('/ready', {
    summary: 'Readiness for reads: the database answers and its schema matches this release',
    surface: 'none',
    refuses: ['unavailable'],
    responses: { 200: Strict({ status: Type.Literal('ready') }) },
  }),
  readyWrites: get('/ready/writes', {
    summary: 'Readiness for writes: ready for reads, and the database is not read-only and has room on its disk',
    surface: 'none',
    refuses: ['unavailable'],
    responses: { 200: Strict({ status: Type.Literal('ready') }) },
  }),
}
