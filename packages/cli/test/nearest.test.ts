import { describe, expect, it } from 'vitest'
import { nearestName, orNearest } from '../src/nearest.ts'

describe('the name that is suggested for a mistyped one', () => {
  const names = ['development', 'staging', 'production']

  it.each([
    ['developmnt', 'development'],
    ['prodcution', 'production'],
    ['Staging', 'staging'],
    ['prod', 'production'],
    ['dev', 'development'],
    ['testing', undefined],
    ['x', undefined],
    ['', undefined],
    ['s'.repeat(10_000), undefined],
  ])('for %s is %s', (wanted, near) => {
    expect(nearestName(wanted, names)).toBe(near)
  })

  it('is none if two names are equally near', () => {
    expect(nearestName('web-3', ['web-1', 'web-2'])).toBeUndefined()
  })

  it.each([
    ['pr-8', 'pr-7'],
    ['eve@example.com', 'dora@example.com'],
  ])('for %s is not %s, which differs in its number or in most of its own letters', (wanted, other) => {
    expect(nearestName(wanted, [other])).toBeUndefined()
  })

  it('is an address that differs by a letter', () => {
    expect(nearestName('dorra@example.com', ['dora@example.com'])).toBe('dora@example.com')
  })

  it('is never the name itself, and a missing name is skipped', () => {
    expect(nearestName('shop', ['shop', null])).toBeUndefined()
  })

  it('comes before the command that lists all names', () => {
    expect(orNearest('shp', ['shop'], 'see `skerry app ls`')).toBe('did you mean shop? Or see `skerry app ls`')
    expect(orNearest('other', ['shop'], 'see `skerry app ls`')).toBe('see `skerry app ls`')
  })
})
