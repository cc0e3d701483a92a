import { limits } from '@skerry/contract/limits'
import { headerNamePattern, headerValuePattern } from '@skerry/contract/patterns'
import { requiredMessage } from '../form/messages.ts'

/** A typed header. If name and value are empty, it is not sent. */
export interface TypedHeader {
  name: string
  value: string
}

export const noHeader: TypedHeader = { name: '', value: '' }

const isEmpty = ({ name, value }: TypedHeader) => name.trim() === '' && value === ''

export const headersOf = (typed: TypedHeader[]): Record<string, string> =>
  Object.fromEntries(typed.filter((one) => !isEmpty(one)).map(({ name, value }) => [name.trim(), value.trim()]))

const nameForm = new RegExp(headerNamePattern)
const valueForm = new RegExp(headerValuePattern)

/** Returns the errors of each header. The server alone knows which headers it forbids. */
export function headerErrors(typed: TypedHeader[]): { name?: string; value?: string }[] {
  const names = typed.map(({ name }) => name.trim().toLowerCase())
  return typed.map((one, i) => {
    const name = names[i] as string
    if (name === '') return isEmpty(one) ? {} : { name: requiredMessage }
    if (!nameForm.test(name)) return { name: 'Letters, digits and hyphens, such as x-api-key.' }
    if (names.indexOf(name) !== i) return { name: 'You have this header already.' }
    if (!valueForm.test(one.value.trim())) return { value: 'Use ASCII letters, digits and signs only.' }
    if (one.value.length > limits.logSinkHeaderCharacters)
      return { value: `Enter at most ${limits.logSinkHeaderCharacters} characters.` }
    return {}
  })
}
