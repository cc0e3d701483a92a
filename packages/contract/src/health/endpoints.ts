import { Type } from 'typebox'
import { get } from '../endpoint.ts'
import { Strict } from '../schema.ts'

export const health = {
  live: get('/health', {
    summary: 'Check that the server process answers requests. The check does not use the database',
    surface: 'none',
    responses: { 200: Strict({ status: Type.Literal('ok') }) },
  }),
  ready: get('/ready', {
    summary:
      'Check that the server can read: its database answers, and the database schema belongs to this release of Skerry',
    surface: 'none',
    refuses: ['unavailable'],
    responses: { 200: Strict({ status: Type.Literal('ready') }) },
  }),
  readyWrites: get('/ready/writes', {
    summary:
      'Check that the server can read and write: the check `/ready` succeeds, the database accepts writes, and the disk of the database has free space',
    surface: 'none',
    refuses: ['unavailable'],
    responses: { 200: Strict({ status: Type.Literal('ready') }) },
  }),
}
