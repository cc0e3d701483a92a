/** The placeholders in statements of a custom access level. Each value has a grammar without quotes or backslashes. */
export const leasePlaceholders = ['roleName', 'verifier', 'expiresAt', 'database', 'schema', 'userHost'] as const

export type LeasePlaceholder = (typeof leasePlaceholders)[number]

const braces = /\{\{([^{}]*)\}\}/g

/**
 * Returns why a statement is not a template, or null if it is one. Only a placeholder may follow `{{`, written exactly
 * as in `leasePlaceholders`. A `}}` without a `{{` before it is ordinary text, because JSON ends with such braces.
 *
 * @example templateProblem('CREATE ROLE {{name}}', leasePlaceholders) // '{{name}} is no placeholder here'
 */
export function templateProblem(template: string, allowed: readonly string[]): string | null {
  for (const [whole, name] of template.matchAll(braces))
    if (!allowed.includes(name as string)) return `${whole} is no placeholder here`
  return template.replace(braces, '').includes('{{') ? 'has {{ without a placeholder; write { {' : null
}

/** Replaces each placeholder with its value. The template must have passed `templateProblem`. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(braces, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`no value for {{${name}}}`)
    return value
  })
}
