// Preloaded into a program that the demo starts and that knows nothing of it: it ends when its parent does, however that ends.
process.once('disconnect', () => process.exit(1));
// A listener keeps the channel, and the channel the process: it is to end by itself all the same.
process.channel?.unref();
