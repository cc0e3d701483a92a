/** Whether this is `npm test`, and not `npm run test:all` or a suite that was asked for by its name. */
export const isQuick = process.env.SKERRY_TESTS === 'quick'
