import {
  cliLoginCodePattern,
  displayNamePattern,
  emailPattern,
  freeTextPattern,
  secretNamePattern,
  slugPattern,
} from '@skerry/contract/patterns'

export const requiredMessage = 'This field is required.'

export const secretNameMessage = 'Use at most 255 letters, digits and _, not beginning with a digit.'

/** Messages for a text that does not match its pattern, by pattern. */
const patterns: Record<string, string> = {
  [cliLoginCodePattern]: 'Enter the code as the terminal shows it, such as WDJB-MJHT.',
  [displayNamePattern]: 'Line breaks and control characters are not allowed.',
  [emailPattern]: 'Enter an e-mail address, such as name@example.com.',
  [freeTextPattern]: 'Control characters are not allowed.',
  [secretNamePattern]: secretNameMessage,
  [slugPattern]: 'Lowercase letters, digits and inner hyphens.',
}

const patternMessage = (pattern: string): string => patterns[pattern] ?? 'This has a character that is not allowed.'

/** A rule of a JSON Schema that a value breaks. */
export interface BrokenRule {
  keyword: string
  params: object
}

const messages: Record<string, (params: Record<string, unknown>) => string> = {
  required: () => requiredMessage,
  minLength: ({ limit }) => (limit === 1 ? requiredMessage : `Enter at least ${limit} characters.`),
  maxLength: ({ limit }) => `Enter at most ${limit} characters.`,
  pattern: ({ pattern }) => patternMessage(patternText(pattern)),
  minimum: ({ limit }) => `Enter ${limit} or more.`,
  maximum: ({ limit }) => `Enter ${limit} or less.`,
  minItems: ({ limit }) => `Choose at least ${limit}.`,
  maxItems: ({ limit }) => `Choose at most ${limit}.`,
}

/** Returns the message for a broken rule, in plain English. */
export function messageOf({ keyword, params }: BrokenRule): string {
  const message = Object.hasOwn(messages, keyword) ? messages[keyword] : undefined
  return message?.(params as Record<string, unknown>) ?? 'Choose a valid value.'
}

const patternText = (pattern: unknown) => (pattern instanceof RegExp ? pattern.source : String(pattern))
