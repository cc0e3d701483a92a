import { Type } from 'typebox'
import { get } from '../endpoint.ts'
import { Strict } from '../schema.ts'

export const health = {
  live: get('/health', {
    summary: 'Check that the process answers',
    surface: 'none',
    responses: { 200: Strict({ status: Type.Literal('ok') }) },
  }),
  ready: get('/ready', {
    summary: 'Check that the server can read: the database answers, and its tables match this release',
    surface: 'none',
    refuses: ['unavailable'],
    responses: { 200: Strict({ status: Type.Literal('ready') }) },
  }),
  readyWrites: get('/ready/writes', {
    summary: 'Check that the server can read and write: the database also accepts writes, and its disk has free space',
    surface: 'none',
    refuses: ['unavailable'],
    responses: { 200: Strict({ status: Type.Literal('ready') }) },
  }),
}
